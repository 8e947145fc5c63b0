import type { Requirement } from '../../src/domain/contract/contract.js';
import type { CapabilityEntry } from '../../src/domain/matching/fleet.js';
import type { TestDatabase } from '../support/database.js';
import { naiveMatch } from '../../src/domain/matching/naive-match.fixture.js';

/** What the view of invariants does not look at: it has to be empty as well, whenever no request is under way. */
const MORE = `
  SELECT 'a run that never began was granted nothing' AS rule, r.run_id, g.node_id AS detail
    FROM runs r JOIN grants g USING (run_id)
   WHERE r.started_at IS NULL AND NOT EXISTS (SELECT FROM events e WHERE e.run_id = r.run_id AND e.kind = 'returned')
  UNION ALL
  SELECT 'a run that began was granted all that it was assigned', r.run_id, node->>'node_id'
    FROM runs r, json_array_elements(r.assigned) AS role, json_array_elements(role->'nodes') AS node
   WHERE NOT EXISTS (SELECT FROM grants g WHERE g.run_id = r.run_id AND g.node_id = node->>'node_id')
  UNION ALL
  SELECT 'a run that is over is sealed, by the digest of its sums', r.run_id, c.digest
    FROM runs r JOIN records c USING (run_id)
   WHERE r.ended_at IS NOT NULL
     AND c.digest IS DISTINCT FROM 'sha256:' || encode(sha256(convert_to(c.sums, 'UTF8')), 'hex')
  UNION ALL
  SELECT 'what has run by a lease was granted by it', a.run_id, a.node_id
    FROM attempts a
   WHERE a.node_id <> '' AND NOT EXISTS (SELECT FROM grants g WHERE g.run_id = a.run_id AND g.node_id = a.node_id)`;

export function brokenPromises(database: TestDatabase): Promise<object[]> {
  return database.sql(`SELECT rule, run_id, detail FROM invariants UNION ALL ${MORE}`);
}

/** P5: the runs that wait beside nodes which are live, free and in service, and fit them. There are none. */
export async function waitingBesideRoom(database: TestDatabase): Promise<string[]> {
  const queue = await database.sql<{ run_id: string; requires: Requirement[]; spread: boolean }>(
    "SELECT run_id, requires, spread FROM runs WHERE state = 'QUEUED' ORDER BY created_at, seq",
  );
  const free = await database.sql<{ node_id: string; capabilities: CapabilityEntry[] }>(
    `SELECT node_id, capabilities FROM nodes n
      WHERE expires_at > clock_timestamp() AND drain = '' AND held_since IS NULL AND NOT revived
        AND NOT EXISTS (SELECT FROM leases l WHERE l.node_id = n.node_id)`,
  );
  return queue.filter((run) => naiveMatch(run, free) !== undefined).map(({ run_id }) => run_id);
}
