import { Injectable } from '@nestjs/common';
import { summarizeCapabilities } from '../domain/matching/summarize-capabilities.js';
import { readAdverts } from '../fleet/read-adverts.sql.js';
import { Database } from '../platform/database/database.js';
import type { CapabilitiesDto, NodeDto, NodesDto } from './node.dto.js';
import { type NodeRow, readNodes } from './read-nodes.sql.js';

/** The fleet as it is shown. */
@Injectable()
export class ShowNodes {
  constructor(private readonly database: Database) {}

  async nodes(all: boolean): Promise<NodesDto> {
    const { observed_at, nodes } = await readNodes(this.database, all);
    return { observed_at: observed_at.toISOString(), items: nodes.map(shown) };
  }

  async capabilities(): Promise<CapabilitiesDto> {
    return { items: summarizeCapabilities(await readAdverts(this.database)) };
  }
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
    live: node.live,
    lease: run_id === null ? null : lease(),
  };
}
