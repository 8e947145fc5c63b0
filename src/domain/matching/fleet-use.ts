import type { RankedFleet } from './ranked-fleet.js';
import { TakenNodes } from './taken-nodes.js';

/** Why a live node is unavailable. Whatever else is true of it, it counts in the first; `silent`: not heard of since an outage. */
export type Unavailability = 'busy' | 'draining' | 'silent';

/** The nodes of one reading of the fleet by why they are unavailable. */
export class FleetUse implements Record<Unavailability, TakenNodes> {
  #taken: TakenNodes | undefined;
  #undrained: TakenNodes | undefined;

  private constructor(
    readonly fleet: RankedFleet,
    readonly busy: TakenNodes,
    readonly draining: TakenNodes,
    readonly silent: TakenNodes,
  ) {}

  /** `useOf` tells why a node is unavailable; undefined: it is free. */
  static of(fleet: RankedFleet, useOf: (nodeId: string) => Unavailability | undefined): FleetUse {
    const setOf = (use: Unavailability): TakenNodes => TakenNodes.of(fleet, { has: (node) => useOf(node) === use });
    return new FleetUse(fleet, setOf('busy'), setOf('draining'), setOf('silent'));
  }

  copy(): FleetUse {
    return new FleetUse(this.fleet, this.busy.copy(), this.draining.copy(), this.silent.copy());
  }

  put(nodeId: string, use: Unavailability | undefined): void {
    this.#taken = this.#undrained = undefined;
    for (const one of ['busy', 'draining', 'silent'] as const) this[one][one === use ? 'add' : 'delete'](nodeId);
  }

  /** All of them. Not to be changed: who wants to takes a copy. */
  get taken(): TakenNodes {
    return (this.#taken ??= this.draining.with(this.undrained));
  }

  /** Those that would be unavailable if none drained. */
  get undrained(): TakenNodes {
    return (this.#undrained ??= this.busy.with(this.silent));
  }
}
