import { isDeepStrictEqual } from 'node:util';
import { FleetUse, type Hold, type Unavailability } from '../domain/matching/fleet-use.js';
import type { Advert } from '../domain/matching/fleet.js';
import { RankedFleet } from '../domain/matching/ranked-fleet.js';
import { EXPIRED_SECONDS, type FleetState, type NodeState } from './fleet-changes.sql.js';

interface Known {
  advert: Advert;
  expiresAt: number;
  use: Unavailability | undefined;
  hold: Hold | undefined;
}

/** The fleet as it was last read, kept so that what is new can be laid on top of it. */
export class FleetMemory {
  readonly #nodes = new Map<string, Known>();
  #fleet = RankedFleet.of([]);
  #use = FleetUse.of(this.#fleet, () => undefined);
  /** Until then the live ones stay live. */
  #nextExpiry = Infinity;
  #rank = true;

  apply({ now, nodes, gone }: Pick<FleetState, 'now' | 'nodes' | 'gone'>): void {
    const before = this.#fleet;
    for (const nodeId of gone) this.#rank = this.#nodes.delete(nodeId) || this.#rank;
    for (const node of nodes) this.#applyNode(node, now);
    if (this.#rank || now >= this.#nextExpiry) this.#rankLive(now);
    if (this.#fleet === before) {
      for (const { node_id, use, hold } of nodes) this.#use.put(node_id, use ?? undefined, hold ?? undefined);
    }
  }

  /** The live adverts, and why some are unavailable; the latter changes with the next refresh, so a reader takes a copy. */
  get use(): FleetUse {
    return this.#use;
  }

  #applyNode({ node_id, label, capabilities, offer_rev, expires_at, use, hold }: NodeState, now: number): void {
    const advert = { node_id, label, capabilities, offer_rev };
    const known = this.#nodes.get(node_id);
    const same = known !== undefined && isDeepStrictEqual(known.advert, advert);
    const wasLive = known !== undefined && this.#fleet.rankOf(node_id) !== undefined;
    this.#nodes.set(node_id, {
      advert: same ? known.advert : advert,
      expiresAt: expires_at,
      use: use ?? undefined,
      hold: hold ?? undefined,
    });
    if (!same || wasLive !== expires_at > now) this.#rank = true;
    this.#nextExpiry = Math.min(this.#nextExpiry, expires_at > now ? expires_at : Infinity);
  }

  #rankLive(now: number): void {
    for (const [nodeId, { expiresAt }] of this.#nodes) {
      if (expiresAt < now - EXPIRED_SECONDS * 1000) this.#nodes.delete(nodeId);
    }
    const live = [...this.#nodes.values()].filter(({ expiresAt }) => expiresAt > now);
    this.#nextExpiry = live.reduce((least, { expiresAt }) => Math.min(least, expiresAt), Infinity);
    this.#rank = false;
    // Most often a heartbeat has come since: nobody has expired, and the order is as it was.
    const known = live.length === this.#fleet.adverts.length && live.every(({ advert }) => this.#isRanked(advert));
    if (known) return;
    this.#fleet = RankedFleet.of(live.map(({ advert }) => advert));
    this.#use = FleetUse.of(this.#fleet, (nodeId) => this.#nodes.get(nodeId)?.use, this.#holds());
  }

  #holds(): Map<string, Hold> {
    return new Map([...this.#nodes].flatMap(([nodeId, { hold }]) => (hold === undefined ? [] : [[nodeId, hold]])));
  }

  #isRanked(advert: Advert): boolean {
    const rank = this.#fleet.rankOf(advert.node_id);
    return rank !== undefined && this.#fleet.at(rank) === advert;
  }
}
