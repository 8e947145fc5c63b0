import type { Shortage } from './shortage.js';

/**
 * Gives every role nodes of its own: a bipartite matching between roles, each as often as its count, and nodes.
 *
 * The search for an augmenting path walks over roles, never over nodes: `tally` keeps, for each role, how many of the
 * nodes it could take belong to each other role or to nobody. With R roles that take S nodes in all, a search costs at
 * most R², a path at most R moves, and there are at most 2·S + R² searches: one per node while the matching grows, then,
 * while it is put in order, one per node that succeeds, and per role one for each other role that fails, since a
 * failure also settles every role that it reached. At the limits of a contract (R = 64, S = 4,096) that is some tens of
 * millions of steps, whatever the size of the fleet; measured, 1 to 50 ms.
 */
export class SpreadMatching {
  /** How many searches there were: the bound above is asserted, not a time. */
  searches = 0;
  private readonly roles: number;
  private readonly width: number;
  private readonly nobody: number;
  private readonly fixed: number;
  /** Node → who has it: a role, nobody, or fixed, which is out of the game. Nodes are numbered by first appearance. */
  private readonly owner: Int32Array;
  private readonly ranks: number[] = [];
  private readonly lists: number[][];
  private readonly wantedBy: number[][] = [];
  /** Role × node: one byte, so that a step of a path need not search `wantedBy`. */
  private readonly wants: Uint8Array;
  private readonly held: number[][];
  private readonly tally: Int32Array;
  /** Of the last search: the role from which each was reached (itself: the start), −1 where it was not. */
  private readonly via: Int32Array;

  /** `lists`: per role the ranks it could take, by preference. As many as all roles take together are enough of each. */
  constructor(
    lists: readonly (readonly number[])[],
    private readonly counts: readonly number[],
  ) {
    this.roles = lists.length;
    this.nobody = this.roles;
    this.fixed = this.roles + 1;
    this.width = this.roles + 2;
    this.tally = new Int32Array(this.roles * this.width);
    this.via = new Int32Array(this.roles);
    this.held = lists.map(() => []);
    const numbers = new Map<number, number>();
    this.lists = lists.map((list, role) => list.map((rank) => this.admit(rank, role, numbers)));
    this.owner = new Int32Array(this.ranks.length).fill(this.nobody);
    this.wants = new Uint8Array(this.roles * this.ranks.length);
    this.lists.forEach((list, role) => {
      for (const node of list) this.wants[role * this.ranks.length + node] = 1;
    });
  }

  /** Gives every role its count, in order; or says which was the first that could not have it, and for the sake of whom. */
  complete(): Shortage | undefined {
    for (let role = 0; role < this.roles; role++) {
      for (let n = 0; n < this.count(role); n++) {
        const end = this.search(role, this.nobody);
        if (end < 0) return this.shortageAt(role);
        this.augment(end, this.nobody);
      }
    }
    return undefined;
  }

  /**
   * Gives every role its count with as few of the nodes of one kind as there must be; gives the ranks of these, undefined
   * where it cannot be done. All that the others can do they do first; who has a node then keeps having one.
   */
  completeWithFewest(isOfKind: (rank: number) => boolean): number[] | undefined {
    const kind = [...this.ranks.keys()].filter((node) => isOfKind(this.ranks[node] as number));
    for (const node of kind) this.move(node, this.fixed);
    this.fill();
    for (const node of kind) this.move(node, this.nobody);
    if (!this.fill()) return undefined;
    return kind.filter((node) => this.ownerOf(node) < this.roles).map((node) => this.ranks[node] as number);
  }

  /** Gives every role as many as it can have; false where some are missing. */
  private fill(): boolean {
    let whole = true;
    for (let role = 0; role < this.roles; role++) {
      while ((this.held[role] as number[]).length < this.count(role)) {
        const end = this.search(role, this.nobody);
        if (end < 0) {
          whole = false;
          break;
        }
        this.augment(end, this.nobody);
      }
    }
    return whole;
  }

  /** After `complete`: the lexicographically first matching. Role by role, each node by preference that leaves one possible. */
  inOrder(): number[][] {
    return this.lists.map((list, role) => {
      const chosen: number[] = [];
      const closed = new Uint8Array(this.width);
      closed[this.fixed] = 1;
      for (const node of list) {
        if (chosen.length === this.count(role)) break;
        if (closed[this.ownerOf(node)]) continue;
        if (this.claim(node, role, closed)) chosen.push(this.ranks[node] as number);
      }
      return chosen;
    });
  }

  /** Takes the node for good, if whoever has it can do without; the role then gives up one of those it had in its stead. */
  private claim(node: number, role: number, closed: Uint8Array): boolean {
    const owner = this.ownerOf(node);
    let source = owner;
    if (owner !== role && owner !== this.nobody) {
      const end = this.search(owner, role);
      if (end < 0) {
        this.via.forEach((from, reached) => from >= 0 && (closed[reached] = 1));
        return false;
      }
      this.move(node, this.fixed);
      source = this.tallyOf(end, role) > 0 ? role : this.nobody;
      this.augment(end, source);
    } else {
      this.move(node, this.fixed);
    }
    if (source === this.nobody) this.move(this.held[role]?.at(-1) as number, this.nobody);
    return true;
  }

  /**
   * Breadth first from the role that needs a node, over the roles whose nodes it could take, to one that could take a
   * node of `spare` or of nobody. Returns that last role, or −1.
   */
  private search(start: number, spare: number): number {
    this.searches += 1;
    this.via.fill(-1);
    this.via[start] = start;
    const queue = [start];
    for (const role of queue) {
      if (this.tallyOf(role, spare) > 0 || this.tallyOf(role, this.nobody) > 0) return role;
      for (let other = 0; other < this.roles; other++) {
        if (this.via[other] === -1 && this.tallyOf(role, other) > 0) {
          this.via[other] = role;
          queue.push(other);
        }
      }
    }
    return -1;
  }

  /** Along the path just found, last role first: each takes a node of the one after it, the last one of `source`. */
  private augment(end: number, source: number): void {
    for (let role = end, from = source; ; from = role, role = this.via[role] as number) {
      this.move(this.nodeFor(role, from), role);
      if (this.via[role] === role) return;
    }
  }

  private nodeFor(role: number, from: number): number {
    const node =
      from === this.nobody
        ? this.lists[role]?.find((one) => this.owner[one] === from)
        : this.held[from]?.find((one) => this.wants[role * this.ranks.length + one] === 1);
    return node as number;
  }

  private move(node: number, to: number): void {
    const from = this.ownerOf(node);
    this.owner[node] = to;
    for (const role of this.wantedBy[node] as number[]) {
      this.tally[role * this.width + from]! -= 1;
      this.tally[role * this.width + to]! += 1;
    }
    const left = this.held[from];
    left?.splice(left.indexOf(node), 1);
    this.held[to]?.push(node);
  }

  /** Whoever the failed search reached wants only nodes that these very roles have: too few for all of them. */
  private shortageAt(role: number): Shortage {
    const together = [...this.via.keys()].filter((reached) => this.via[reached] !== -1);
    const nodes = together.reduce((sum, reached) => sum + (this.held[reached] as number[]).length, 0);
    return { at: role, together, nodes };
  }

  private admit(rank: number, role: number, numbers: Map<number, number>): number {
    let node = numbers.get(rank);
    if (node === undefined) {
      node = this.ranks.push(rank) - 1;
      numbers.set(rank, node);
      this.wantedBy.push([]);
    }
    this.wantedBy[node]?.push(role);
    this.tally[role * this.width + this.nobody]! += 1;
    return node;
  }

  private ownerOf(node: number): number {
    return this.owner[node] as number;
  }

  private tallyOf(role: number, owner: number): number {
    return this.tally[role * this.width + owner] as number;
  }

  private count(role: number): number {
    return this.counts[role] as number;
  }
}
