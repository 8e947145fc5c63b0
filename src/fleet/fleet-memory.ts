import { isDeepStrictEqual } from 'node:util';
import { ExistingNodes, FleetUse, type Hold, type Unavailability } from '../domain/matching/fleet-use.js';
import type { Advert } from '../domain/matching/fleet.js';
import { RankedFleet } from '../domain/matching/ranked-fleet.js';
import { type FleetState, keptSeconds, type NodeState } from './fleet-changes.sql.js';

interface Known {
  advert: Advert;
  expiresAt: number;
  rememberedFrom: number;
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
  #now = 0;
  #existing: { nodes: ExistingNodes; until: number } | undefined;

  /** `rememberSeconds`: for so long a node whose advert has expired still exists. */
  constructor(private readonly rememberSeconds: number) {}

  apply({ now, nodes, gone }: Pick<FleetState, 'now' | 'nodes' | 'gone'>): void {
    const before = this.#fleet;
    this.#now = now;
    for (const nodeId of gone) {
      if (!this.#nodes.delete(nodeId)) continue;
      this.#rank = true;
      this.#existing = undefined;
    }
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

  /** The live nodes, and behind them those that are remembered; the same object until some of them change, come or go. */
  get existing(): ExistingNodes {
    if (this.#existing === undefined || this.#now >= this.#existing.until) this.#existing = this.#findExisting();
    return this.#existing.nodes;
  }

  #findExisting(): { nodes: ExistingNodes; until: number } {
    const lasts = this.rememberSeconds * 1000;
    const silent = [...this.#nodes.values()].filter(
      ({ expiresAt, rememberedFrom }) => expiresAt <= this.#now && rememberedFrom + lasts > this.#now,
    );
    const until = silent.reduce((least, { rememberedFrom }) => Math.min(least, rememberedFrom + lasts), Infinity);
    const adverts = silent.map(({ advert }) => advert);
    return { nodes: new ExistingNodes(RankedFleet.of(this.#fleet, adverts)), until };
  }

  #applyNode(node: NodeState, now: number): void {
    const { node_id, label, capabilities, offer_rev, expires_at, remembered_from, use, hold } = node;
    const advert = { node_id, label, capabilities, offer_rev };
    const known = this.#nodes.get(node_id);
    const same = known !== undefined && isDeepStrictEqual(known.advert, advert);
    const wasLive = known !== undefined && this.#fleet.rankOf(node_id) !== undefined;
    this.#nodes.set(node_id, {
      advert: same ? known.advert : advert,
      expiresAt: expires_at,
      rememberedFrom: remembered_from,
      use: use ?? undefined,
      hold: hold ?? undefined,
    });
    if (!same || wasLive !== expires_at > now) this.#rank = true;
    // Of a silent node the time may have changed until when it is remembered. A lease that it loses changes nothing about it.
    const stayedSilent = same && known.expiresAt <= now && known.rememberedFrom === remembered_from;
    if (expires_at <= now && !stayedSilent) this.#existing = undefined;
    this.#nextExpiry = Math.min(this.#nextExpiry, expires_at > now ? expires_at : Infinity);
  }

  #rankLive(now: number): void {
    for (const [nodeId, { rememberedFrom }] of this.#nodes) {
      if (rememberedFrom < now - keptSeconds(this.rememberSeconds) * 1000) this.#nodes.delete(nodeId);
    }
    const live = [...this.#nodes.values()].filter(({ expiresAt }) => expiresAt > now);
    this.#nextExpiry = live.reduce((least, { expiresAt }) => Math.min(least, expiresAt), Infinity);
    this.#rank = false;
    // Most often a heartbeat has come since: nobody has expired, and the order is as it was.
    const known = live.length === this.#fleet.adverts.length && live.every(({ advert }) => this.#isRanked(advert));
    if (known) return;
    this.#fleet = RankedFleet.of(live.map(({ advert }) => advert));
    this.#existing = undefined;
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
