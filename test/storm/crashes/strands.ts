import { needs, R, step } from '../../support/contracts.js';
import { question } from '../../support/asks.js';
import { bytesOf } from '../../support/bytes.js';
import type { TestDatabase } from '../../support/database.js';
import type { Contract, FieldNode, People } from './players.js';

/** What is going on when a server is killed. */
export interface Scene {
  people: People;
  /** By their names, each of which is also the role it offers. */
  nodes: Record<string, FieldNode>;
  database: TestDatabase;
  /** What the runs of this lap are named by. */
  lap: string;
  /** Runs that were given a lease after their end, past the server. */
  planted: Set<string>;
}

export const NODES = 'a b cx cy cz d e1 e2 e3 e4 e5 e6 e7 e8 f held'.split(' ');

/** These do by themselves what they do: nobody touches the database past the server. */
export const WITHOUT_A_HAND_IN_IT = [queue, bodies, parts, drains, refusals];

/** Each of these goes on beside the others; together they meet every transaction there is but `put-back-notice`. */
export const STRANDS = [
  ...WITHOUT_A_HAND_IN_IT,
  leaseRunsOut,
  goesBack,
  isNotBegun,
  questionRunsOut,
  stepRunsOut,
  leftovers,
  outOfService,
];

/** A run of one step on a node of this role. */
function run(role: string, run_id: string): Contract {
  return { ...R(role), run_id };
}

async function queue({ people, nodes: { a }, lap }: Scene): Promise<void> {
  await a!.advertise();
  await a!.newcomer(`${lap}-new`).advertise();
  const [first, second, third] = [run('a', `${lap}-q1`), run('a', `${lap}-q2`), run('a', `${lap}-q3`)];
  await people.submit(first, 201);
  await people.submit(second, 202);
  await people.submit(third, 202);
  await people.submit(second, 200);
  const claim = await a!.claim();
  await a!.log(claim, 0, 'half a line');
  await a!.log(claim, 11, ', and the rest of it\n');
  await people.cancel(third.run_id);
  await a!.report(claim);
  await a!.claim();
  // Its answer was lost on the way, say: it asks again.
  await a!.report(await a!.claim(), 3);
  await people.submit(run('a', `${lap}-q4`), 201);
  await people.cancel(`${lap}-q4`);
}

async function bodies({ people, nodes: { b }, lap }: Scene): Promise<void> {
  await b!.advertise();
  const loop = { back_to: 'build', max: 2, until: { exit_code: 0 } };
  const schema = { verdict: { type: 'object', required: ['ok'] } };
  const build = step('build', 'b', { out: ['image', 'verdict'], schema, loop });
  await people.submit({ run_id: `${lap}-b`, requires: [needs('b')], steps: [build] }, 201);
  for (const exitCode of [1, 0]) {
    const claim = await b!.claim();
    await b!.upload(claim, 'image', bytesOf(600_000, exitCode + 1));
    await b!.upload(claim, 'verdict', '{"bad":true}', 422);
    await b!.upload(claim, 'verdict', `{"ok":${exitCode === 0}}`);
    await b!.report(claim, exitCode);
  }
}

async function parts({ people, nodes: { cx, cy, cz }, lap }: Scene): Promise<void> {
  await Promise.all([cx!.advertise(), cy!.advertise(), cz!.advertise()]);
  const more = { id: 'more', acquire: { want: needs('cz'), acquired: 'use', unavailable: 'without' } };
  const steps = [
    step('first', 'cx', { release: ['cx'] }),
    more,
    step('use', 'cz', { out: ['made'] }),
    step('without', 'cy'),
    question('look', {}, { needs: ['use', 'without'] }),
    step('last', 'cy'),
  ];
  await people.submit({ run_id: `${lap}-c1`, requires: [needs('cx'), needs('cy')], steps }, 201);
  const next = [question('may', { answerers: ['anonymous'] }), step('begin', 'cx')];
  await people.submit({ run_id: `${lap}-c2`, requires: [needs('cx')], steps: next }, 202);
  const again = [more, step('use', 'cz'), step('without', 'cx')];
  await people.submit({ run_id: `${lap}-c3`, requires: [needs('cx')], steps: again }, 202);
  await cx!.work(await cx!.claim());
  await people.answer(`${lap}-c2`, 1);
  await cz!.work(await cz!.claim());
  await people.answer(`${lap}-c1`, 5);
  await cy!.work(await cy!.claim());
  await cx!.work(await cx!.claim());
  await cz!.work(await cz!.claim());
}

async function drains({ people, nodes: { d }, lap }: Scene): Promise<void> {
  await d!.advertise();
  const two = { requires: [needs('d')], steps: [step('one', 'd'), step('two', 'd')] };
  await people.submit({ run_id: `${lap}-d1`, ...two }, 201);
  await people.submit(run('d', `${lap}-d2`), 202);
  const claim = await d!.claim();
  await d!.advertise('at-boundary');
  await d!.report(claim);
  await d!.advertise();
  await d!.claim();
  d!.boot();
  await d!.advertise();
  await people.submit({ run_id: `${lap}-d3`, ...two }, 201);
  // Nothing of it has begun: it waits again, and then it has, and is cancelled.
  await d!.advertise('at-boundary');
  await d!.advertise();
  await d!.work(await d!.claim());
  await d!.advertise('at-boundary');
  await d!.advertise();
}

async function refusals({ people, lap }: Scene): Promise<void> {
  const nowhere = run('nowhere', `${lap}-r`);
  await people.submit(nowhere, 422);
  await people.submit(nowhere, 200);
}

async function leaseRunsOut({ people, nodes: { e1, e2 }, database, lap }: Scene): Promise<void> {
  await Promise.all([e1!.advertise(), e2!.advertise()]);
  const steps = [step('only', 'e2')];
  await people.submit({ run_id: `${lap}-e1`, requires: [needs('e1'), needs('e2')], steps }, 201);
  await people.submit(run('e1', `${lap}-e2`), 202);
  await e2!.claim();
  await database.sql("UPDATE leases SET not_after = clock_timestamp() - interval '1 s' WHERE run_id = $1", [
    `${lap}-e1`,
  ]);
  await e1!.work(await e1!.claim());
}

async function goesBack({ people, nodes: { e7 }, database, lap }: Scene): Promise<void> {
  await e7!.advertise();
  await people.submit(run('e7', `${lap}-e9`), 201);
  await database.sql("UPDATE leases SET not_after = clock_timestamp() - interval '1 s' WHERE run_id = $1", [
    `${lap}-e9`,
  ]);
  await people.until('the reaper has sent it back', async () => {
    return (await database.sql("SELECT FROM events WHERE run_id = $1 AND kind = 'returned'", [`${lap}-e9`])).length > 0;
  });
  await e7!.work(await e7!.claim());
}

async function isNotBegun({ people, nodes: { e8 }, database, lap }: Scene): Promise<void> {
  await e8!.advertise();
  const late = `${lap}-e10`;
  await people.submit(run('e8', late), 201);
  await people.submit(run('e8', `${lap}-e11`), 202);
  await people.submit(run('e8', `${lap}-e12`), 202);
  await database.sql("UPDATE runs SET started_at = started_at - interval '2 h' WHERE run_id = $1", [late]);
  await database.sql("UPDATE leases SET granted_at = granted_at - interval '2 h' WHERE run_id = $1", [late]);
  await database.sql("UPDATE nodes SET back_at = NULL WHERE node_id = 'e8'");
  await people.until('the reaper has ended it', async () => {
    return (await database.sql("SELECT FROM runs WHERE run_id = $1 AND state = 'FAILED'", [late])).length > 0;
  });
  await e8!.giveUp(await e8!.claim());
  // With the first step that it does nothing is held against it any more.
  await e8!.work(await e8!.claim());
}

async function questionRunsOut({ people, nodes: { e3 }, database, lap }: Scene): Promise<void> {
  await e3!.advertise();
  const steps = [question('soon', { timeout_seconds: 3600 }), step('then', 'e3')];
  await people.submit({ run_id: `${lap}-e3`, requires: [needs('e3')], steps }, 201);
  await people.submit(run('e3', `${lap}-e4`), 202);
  await database.sql("UPDATE asks SET deadline = clock_timestamp() - interval '1 s' WHERE run_id = $1", [`${lap}-e3`]);
  await e3!.work(await e3!.claim());
}

async function stepRunsOut({ people, nodes: { e4, e5 }, database, lap }: Scene): Promise<void> {
  await Promise.all([e4!.advertise(), e5!.advertise()]);
  const steps = [step('long', 'e5', { timeout_seconds: 3600 })];
  await people.submit({ run_id: `${lap}-e5`, requires: [needs('e4'), needs('e5')], steps }, 201);
  await people.submit(run('e4', `${lap}-e6`), 202);
  await e5!.claim();
  await database.sql("UPDATE steps SET started_at = started_at - interval '2 h' WHERE run_id = $1", [`${lap}-e5`]);
  await e4!.work(await e4!.claim());
}

async function outOfService({ people, nodes: { f }, database, lap }: Scene): Promise<void> {
  await f!.advertise();
  await people.hold('f', 'the fan is loud');
  await people.submit(run('f', `${lap}-f1`), 202);
  const gone = f!.newcomer(`${lap}-gone`);
  await gone.advertise();
  await people.lift('f');
  await f!.work(await f!.claim());
  await database.sql('UPDATE nodes SET expires_at = clock_timestamp() WHERE node_id = $1', [gone.nodeId]);
  await people.forget(gone.nodeId);
}

async function leftovers({ people, nodes: { e6 }, database, lap, planted }: Scene): Promise<void> {
  await e6!.advertise();
  const over = `${lap}-e7`;
  await people.submit(run('e6', over), 201);
  const claim = await e6!.claim();
  await database.sql(
    `INSERT INTO blobs (run_id, seq, attempt, name, media_type, started_at)
     VALUES ($1, 1, 1, 'never-ended', 'text/plain', clock_timestamp() - interval '2 h')`,
    [over],
  );
  await e6!.report(claim);
  await database.sql(
    "INSERT INTO servers (server_id, seen_at) SELECT gen_random_uuid(), clock_timestamp() - interval '1 h'",
  );
  planted.add(over);
  await database.sql(
    "INSERT INTO leases (node_id, run_id, not_after) VALUES ('e6', $1, clock_timestamp() + interval '1 h')",
    [over],
  );
  // The reaper may have come already.
  await people.submit(run('e6', `${lap}-e8`), 201, 202);
  await e6!.work(await e6!.claim());
  await people.until('the reaper has deleted the upload', async () => {
    return (await database.sql("SELECT FROM blobs WHERE run_id = $1 AND name = 'never-ended'", [over])).length === 0;
  });
}
