import { Injectable } from '@nestjs/common';
import type { RankedFleet } from '../domain/matching/ranked-fleet.js';
import { type CapabilitySummary, summarizeCapabilities } from '../domain/matching/summarize-capabilities.js';
import { FleetView } from '../fleet/fleet-view.js';
import { Database } from '../platform/database/database.js';
import { Problem } from '../platform/http/problem.js';
import type { HoldDto } from './hold.dto.js';
import type { CapabilitiesDto, NodeDto, NodesDto } from './node.dto.js';
import { holdOf, type NodeHold, type NodeRow, readNode, readNodes } from './nodes.sql.js';

/** The fleet as it is shown. */
@Injectable()
export class ShowNodes {
  /** What a fleet offers is summed up once: it is the same object for as long as nobody's offer changes, comes or goes. */
  readonly #summaries = new WeakMap<RankedFleet, CapabilitySummary[]>();

  constructor(
    private readonly database: Database,
    private readonly fleet: FleetView,
  ) {}

  async nodes(all: boolean): Promise<NodesDto> {
    const { observed_at, nodes } = await this.database.ask(readNodes(all));
    return { observed_at: observed_at.toISOString(), items: nodes.map(shown) };
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
