import type { Requirement } from '../contract/contract.js';
import { candidates } from '../matching/candidates.js';
import type { RankedFleet } from '../matching/ranked-fleet.js';
import { useOf, type FleetUse } from './fleet-use.js';
import type { Holding, WaitingRole } from './waiting.js';

export function waitingRole(requirement: Requirement, fleet: RankedFleet, use: FleetUse): WaitingRole {
  const role = { as: requirement.as, count: requirement.count ?? 1, live: 0, free: 0, busy: 0, draining: 0 };
  const holders: WaitingRole['holders'] = [];
  for (const rank of candidates(requirement, fleet)) {
    const { node_id } = fleet.at(rank);
    const how = useOf(node_id, use);
    role.live += 1;
    if (how !== 'silent') role[how] += 1;
    if (how === 'busy') {
      const { run_id, since, not_after } = use.busy.get(node_id) as Holding;
      holders.push({ node_id, run_id, since, not_after });
    }
  }
  return { ...role, holders };
}
