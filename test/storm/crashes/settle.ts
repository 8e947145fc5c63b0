import type { TestDatabase } from '../../support/database.js';
import { eventually } from '../../support/eventually.js';
import type { FieldNode, People } from './players.js';

/** More often than any run of the storm has steps. */
const ROUNDS = 50;

/** Honest nodes and people go on until every run is over, and what is held is put back into service; nobody does anything but what the server gives to do. */
export async function goOn(database: TestDatabase, people: People, nodes: FieldNode[]): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) {
    const seen = new Map<string, any>((await people.see('/v1/nodes')).items.map((item: any) => [item.node_id, item]));
    for (const node of nodes) {
      // Whoever has nothing to do and offers itself need not be asked.
      const { drain = '', lease = null, held = null } = seen.get(node.nodeId) ?? {};
      if (held !== null) await people.lift(node.nodeId);
      if (drain !== '' || lease !== null) await node.advertise();
      const claim = lease === null ? undefined : await node.tryClaim();
      if (claim !== undefined) await node.work(claim);
    }
    for (const { run_id, seq } of (await people.see('/v1/asks?limit=200')).items) await people.answer(run_id, seq);
    if ((await unfinished(database)).length === 0) return;
  }
  throw new Error(`these runs do not end: ${JSON.stringify(await unfinished(database))}`);
}

/** Until the reaper has ended what is past its time, an honest node could be given a step that ends while it works on it. */
export async function expectNothingOverdue(database: TestDatabase): Promise<void> {
  await eventually('the reaper has ended what is past its time', async () => {
    const overdue = await database.sql(
      `SELECT run_id FROM asks WHERE state = 'OPEN' AND deadline < clock_timestamp()
        UNION ALL
       SELECT run_id FROM steps
        WHERE state = 'CLAIMED' AND started_at < clock_timestamp() - make_interval(secs => timeout_seconds + 60)`,
    );
    return overdue.length === 0;
  });
}

function unfinished(database: TestDatabase): Promise<object[]> {
  return database.sql('SELECT run_id, state FROM runs WHERE ended_at IS NULL');
}

/** By the start-up wake, or by what the reaper has freed: nobody waits beside nodes that fit. No run of the storm may have nodes in common. */
export async function expectNobodyStranded(people: People): Promise<void> {
  await eventually('nobody waits beside nodes that are free', async () => {
    const { items } = await people.see('/v1/queue?limit=200');
    return items.every(({ waiting }: any) => waiting.roles.some(({ free, count }: any) => free < count));
  });
}

/** Whatever went before, this is so in the end: all is given back, and every record is sealed. */
export async function expectAllSettled(database: TestDatabase): Promise<void> {
  await eventually('the reaper has cleaned up', async () => {
    const left = await database.sql(
      `SELECT run_id FROM leases UNION ALL SELECT run_id FROM records WHERE digest IS NULL
       UNION ALL SELECT run_id FROM blobs WHERE published_at IS NULL AND started_at < now() - interval '1 h'`,
    );
    return left.length === 0;
  });
}
