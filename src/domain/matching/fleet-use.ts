import type { NodeSet } from './fleet.js';
import type { RankedFleet } from './ranked-fleet.js';

/** Unavailable nodes of one reading of the fleet, one bit per rank: the matcher asks for thousands of nodes at once. */
export class UnavailableNodes implements NodeSet {
  private constructor(
    readonly fleet: RankedFleet,
    /** One for each rank; of the last word some stand for nobody. */
    readonly bits: Uint32Array,
  ) {}

  static of(fleet: RankedFleet, names: NodeSet): UnavailableNodes {
    const nodes = new UnavailableNodes(fleet, new Uint32Array((fleet.adverts.length + 31) >>> 5));
    fleet.adverts.forEach(({ node_id }, rank) => names.has(node_id) && nodes.addRank(rank));
    return nodes;
  }

  copy(): UnavailableNodes {
    return new UnavailableNodes(this.fleet, this.bits.slice());
  }

  /** Those of both, as a set of its own. */
  with(others: UnavailableNodes): UnavailableNodes {
    const both = this.copy();
    for (let word = 0; word < both.bits.length; word++) both.bits[word]! |= others.bits[word]!;
    return both;
  }

  get isEmpty(): boolean {
    return this.bits.every((word) => word === 0);
  }

  has(nodeId: string): boolean {
    const rank = this.fleet.rankOf(nodeId);
    return rank !== undefined && this.hasRank(rank);
  }

  hasRank(rank: number): boolean {
    return (this.bits[rank >>> 5]! & (1 << (rank & 31))) !== 0;
  }

  /** A node that is not live is no candidate anyway. */
  add(nodeId: string): void {
    const rank = this.fleet.rankOf(nodeId);
    if (rank !== undefined) this.addRank(rank);
  }

  delete(nodeId: string): void {
    const rank = this.fleet.rankOf(nodeId);
    if (rank !== undefined) this.bits[rank >>> 5]! &= ~(1 << (rank & 31));
  }

  /** The ranks of the nodes that are free, most preferred first; at most so many. */
  free(limit: number): number[] {
    const ranks: number[] = [];
    const count = this.fleet.adverts.length;
    for (let word = 0; word < this.bits.length && ranks.length < limit; word++) {
      if (this.bits[word] === 0xffffffff) continue;
      for (let rank = word << 5; rank < Math.min(count, (word + 1) << 5) && ranks.length < limit; rank++) {
        if (!this.hasRank(rank)) ranks.push(rank);
      }
    }
    return ranks;
  }

  private addRank(rank: number): void {
    this.bits[rank >>> 5]! |= 1 << (rank & 31);
  }
}

/**
 * Why a live node is unavailable; whatever else is true of it, it counts in the first. `draining`: its own process gives
 * nothing more. `held`: it was taken out of service. `revived`: it was not heard of since an outage.
 */
export const UNAVAILABILITIES = ['busy', 'draining', 'held', 'revived'] as const;
export type Unavailability = (typeof UNAVAILABILITIES)[number];

/** Who has taken a node out of service, and why. */
export interface Hold {
  reason: string;
  by: string;
}

const NO_HOLDS: ReadonlyMap<string, Hold> = new Map();

/** The nodes of one reading of the fleet by why they are unavailable. */
export class FleetUse implements Record<Unavailability, UnavailableNodes> {
  #unavailable: UnavailableNodes | undefined;
  #ifInService: UnavailableNodes | undefined;
  #withdrawn: UnavailableNodes | undefined;

  readonly busy: UnavailableNodes;
  readonly draining: UnavailableNodes;
  readonly held: UnavailableNodes;
  readonly revived: UnavailableNodes;

  private constructor(
    readonly fleet: RankedFleet,
    nodes: (why: Unavailability) => UnavailableNodes,
    /** By node, of busy ones too. Shared with copies, so never changed: another takes its place. */
    public holds: ReadonlyMap<string, Hold>,
  ) {
    this.busy = nodes('busy');
    this.draining = nodes('draining');
    this.held = nodes('held');
    this.revived = nodes('revived');
  }

  /** `useOf`: why a node is unavailable; undefined: it is free. */
  static of(
    fleet: RankedFleet,
    useOf: (nodeId: string) => Unavailability | undefined,
    holds: ReadonlyMap<string, Hold> = NO_HOLDS,
  ): FleetUse {
    const nodes = (why: Unavailability): UnavailableNodes =>
      UnavailableNodes.of(fleet, { has: (node) => useOf(node) === why });
    return new FleetUse(fleet, nodes, holds);
  }

  copy(): FleetUse {
    return new FleetUse(this.fleet, (why) => this[why].copy(), this.holds);
  }

  put(nodeId: string, use: Unavailability | undefined, hold?: Hold): void {
    if (hold !== undefined) this.holds = new Map([...this.holds, [nodeId, hold]]);
    else if (this.holds.has(nodeId)) this.holds = new Map([...this.holds].filter(([held]) => held !== nodeId));
    this.#unavailable = this.#ifInService = this.#withdrawn = undefined;
    for (const one of UNAVAILABILITIES) this[one][one === use ? 'add' : 'delete'](nodeId);
  }

  /** All of them. Not to be changed: whoever wants to, takes a copy. */
  get unavailable(): UnavailableNodes {
    return (this.#unavailable ??= this.withdrawn.with(this.ifInService));
  }

  /** Those that drain or are held, and are not busy: they would be free if somebody lifted that. */
  get withdrawn(): UnavailableNodes {
    return (this.#withdrawn ??= this.draining.with(this.held));
  }

  /** Those that would be unavailable if none drained or were held. */
  get ifInService(): UnavailableNodes {
    return (this.#ifInService ??= this.busy.with(this.revived));
  }
}

/** The nodes that exist: the live ones, and behind them those that are silent and may come back. */
export class ExistingNodes {
  #silent: UnavailableNodes | undefined;

  constructor(readonly fleet: RankedFleet) {}

  get silent(): UnavailableNodes {
    const live = this.fleet.adverts.length - this.fleet.silent;
    return (this.#silent ??= UnavailableNodes.of(this.fleet, { has: (node) => this.fleet.rankOf(node)! >= live }));
  }
}
