import { Injectable } from '@nestjs/common';
import type { RankedFleet } from '../domain/matching/ranked-fleet.js';
import { type CapabilitySummary, summarizeCapabilities } from '../domain/matching/summarize-capabilities.js';
import { FleetView } from '../fleet/fleet-view.js';
import { Database } from '../platform/database/database.js';
import { NODE_ID } from '../platform/http/path-parameters.js';
import { Problem } from '../platform/http/problem.js';
import type { HoldDto } from './hold.dto.js';
import type { CapabilitiesDto, NodeDto, NodesDto } from './node.dto.js';
import { type NodeFilter, readNodePage } from './node-page.sql.js';
import type { NodesQueryDto } from './nodes-query.dto.js';
import { holdOf, type NodeHold, type NodeRow, readNode } from './nodes.sql.js';

/** The fleet as it is shown. */
@Injectable()
export class ShowNodes {
  /** What a fleet offers is summed up once: it is the same object for as long as nobody's offer changes, comes or goes. */
  readonly #summaries = new WeakMap<RankedFleet, CapabilitySummary[]>();

  constructor(
    private readonly database: Database,
    private readonly fleet: FleetView,
  ) {}

  /** A page of the nodes, or all of them. Throws invalid_request where this server did not make the cursor. */
  async page({ limit, cursor, ...query }: NodesQueryDto): Promise<NodesDto> {
    const { observed_at, nodes, more } = await this.database.ask(readNodePage(filterOf(query), limit, placeOf(cursor)));
    const next = more ? Buffer.from(nodes.at(-1)!.node_id).toString('base64url') : null;
    return { observed_at: observed_at.toISOString(), items: nodes.map(shown), next };
  }

  /** Throws not_found where there is no such node. `forgotten`: one that was forgotten is shown as well. */
  async node(nodeId: string, { forgotten = false } = {}): Promise<NodeDto> {
    const row = await this.database.ask(readNode(nodeId, forgotten));
    if (row === undefined) throw noSuchNode(nodeId);
    return shown(row);
  }

  async capabilities(): Promise<CapabilitiesDto> {
    const { adverts } = await this.fleet.refresh();
    let items = this.#summaries.get(adverts);
    if (items === undefined) this.#summaries.set(adverts, (items = summarizeCapabilities(adverts.adverts)));
    return { items };
  }
}

/** The node that a cursor names. */
function placeOf(cursor: string | undefined): string | undefined {
  if (cursor === undefined) return undefined;
  const nodeId = Buffer.from(cursor, 'base64url').toString();
  if (!NODE_ID.test(nodeId)) throw new Problem('invalid_request', 'cursor must be the `next` of an earlier page');
  return nodeId;
}

function filterOf({ all, state, capability, attr = [] }: NodesQueryDto): NodeFilter {
  const pairs = attr.map((one): [string, string] => {
    const colon = one.indexOf(':');
    return [one.slice(0, colon), one.slice(colon + 1)];
  });
  const { node_id, ...attrs } = Object.fromEntries(pairs);
  if (new Set(pairs.map(([key]) => key)).size < pairs.length) {
    const fault = { pointer: '/attr', detail: 'must name each key once: one entry has one value of it' };
    throw new Problem('invalid_request', `attr ${fault.detail}`, { errors: [fault] });
  }
  // An advert does not list the id of its node among its attributes; its entries have it all the same.
  const offers = { ...(capability !== undefined && { capability }), ...(Object.keys(attrs).length > 0 && { attrs }) };
  return { all, state, node_id, offers: Object.keys(offers).length > 0 ? offers : undefined };
}

export function noSuchNode(nodeId: string): Problem {
  return new Problem('not_found', `there is no node ${nodeId}`);
}

function shown({ run_id, principal, since, not_after, ...node }: NodeRow): NodeDto {
  const lease = () => ({ run_id: run_id!, principal, since: since.toISOString(), not_after: not_after.toISOString() });
  return {
    node_id: node.node_id,
    label: node.label,
    capabilities: node.capabilities,
    drain: node.drain,
    seen_at: node.seen_at.toISOString(),
    expires_at: node.expires_at.toISOString(),
    held: shownHold(holdOf(node)),
    live: node.live,
    lease: run_id === null ? null : lease(),
  };
}

export function shownHold(hold: NodeHold | null): HoldDto | null {
  return hold && { ...hold, since: hold.since.toISOString() };
}
