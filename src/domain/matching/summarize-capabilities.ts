import type { CapabilityEntry } from './fleet.js';

export interface CapabilitySummary {
  capability: string;
  nodes: number;
  attrs: Record<string, string[]>;
}

/** What these nodes offer together: each capability with how many nodes have it and every value of its attributes, sorted. */
export function summarizeCapabilities(
  fleet: readonly { node_id: string; capabilities: CapabilityEntry[] }[],
): CapabilitySummary[] {
  const found = new Map<string, { nodes: Set<string>; attrs: Map<string, Set<string>> }>();
  for (const { node_id, capabilities } of fleet) {
    for (const { capability, attrs = {} } of capabilities) {
      const summary = found.get(capability) ?? { nodes: new Set(), attrs: new Map<string, Set<string>>() };
      found.set(capability, summary);
      summary.nodes.add(node_id);
      for (const [key, value] of Object.entries(attrs)) {
        summary.attrs.set(key, (summary.attrs.get(key) ?? new Set<string>()).add(value));
      }
    }
  }
  return [...found].sort(byName).map(([capability, { nodes, attrs }]) => ({
    capability,
    nodes: nodes.size,
    attrs: Object.fromEntries([...attrs].sort(byName).map(([key, values]) => [key, [...values].sort()])),
  }));
}

function byName([a]: [string, unknown], [b]: [string, unknown]): number {
  return a < b ? -1 : 1;
}
