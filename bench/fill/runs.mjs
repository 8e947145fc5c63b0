/*
 * Runs as the program leaves them, many at a time: what it would take a day to submit is there in seconds. The self-test
 * holds the rows of a few against those of the program, and the view `invariants` must find nothing in any of them.
 */
import { DERIVED } from './kinds.mjs';

const MORE = DERIVED.map(({ name }) => `, ${name}`).join('');
const MORE_TYPED = DERIVED.map(({ name, type }) => `, ${name} ${type}`).join('');

/** The name of the run that was filled as number `index`. */
export const runName = (prefix, index) => `${prefix}${String(index).padStart(7, '0')}`;

/** The runs to be filled: their ids in arrival order, kinds and nodes taken in turn. */
const FILLING = `
  WITH filling AS (
    SELECT $1 || lpad(i::text, 7, '0') AS run_id, clock_timestamp() - make_interval(secs => age) + i * interval '1 ms' AS at,
           ($5::text[])[1 + i % greatest(1, cardinality($5::text[]))] AS node_id, kind.*
      FROM generate_series($2::int, $3::int) AS i
      JOIN json_to_recordset($4::json) AS kind (n int, contract json, contract_hash text, requires json, spread boolean,
                                                signature text, work_id text, steps json, role text, age float8${MORE_TYPED})
        ON kind.n = i % json_array_length($4::json))`;

const STATEMENTS = {
  runs: `${FILLING}
  INSERT INTO runs (run_id, state, version, principal, contract, contract_hash, work_id, requires, spread, signature,
                    assigned, queued_at, wait_reason, wait_holders, verdict, created_at, started_at, ended_at${MORE})
  SELECT run_id, $6, 1, 'bench', contract, contract_hash, work_id, requires, spread, signature,
         CASE WHEN $6 <> 'QUEUED' THEN json_build_array(json_build_object('as', role,
           'nodes', json_build_array(json_build_object('node_id', node_id, 'label', 'board ' || node_id)))) END,
         CASE $6 WHEN 'QUEUED' THEN at END, CASE $6 WHEN 'QUEUED' THEN 'BUSY' END, CASE $6 WHEN 'QUEUED' THEN '[]'::json END,
         CASE $6 WHEN 'SUCCEEDED' THEN json_build_object('reason', 'succeeded', 'detail', 'every step that was reached is done',
           'by', json_build_object('kind', 'node', 'name', node_id),
           'checks', json_build_array(json_build_object('step', 'only', 'what', 'state', 'want', 'DONE', 'got', 'DONE', 'ok', true))) END,
         at, CASE WHEN $6 <> 'QUEUED' THEN at END, CASE $6 WHEN 'SUCCEEDED' THEN at + interval '1 s' END${MORE}
    FROM filling ORDER BY at`,

  steps: `${FILLING}
  INSERT INTO steps (run_id, seq, id, kind, uses, needs, timeout_seconds, node_id, state, started_at, ended_at, result)
  SELECT run_id, step.seq, step.id, step.kind, step.uses, step.needs, step.timeout_seconds,
         CASE $6 WHEN 'PENDING' THEN coalesce(node_id, '') ELSE node_id END, $6,
         CASE WHEN $6 <> 'PENDING' THEN at END, CASE $6 WHEN 'DONE' THEN at + interval '1 s' END,
         CASE $6 WHEN 'DONE' THEN '{"exit_code":0}'::json END
    FROM filling, json_to_recordset(steps) AS step (seq int, id text, kind text, uses text, needs text[], timeout_seconds float8)`,

  attempts: `${FILLING}
  INSERT INTO attempts (run_id, seq, attempt, node_id, state, started_at, ended_at, result)
  SELECT run_id, 1, 1, node_id, $6, at, CASE $6 WHEN 'DONE' THEN at + interval '1 s' END,
         CASE $6 WHEN 'DONE' THEN '{"exit_code":0}'::json END
    FROM filling`,

  leases: `${FILLING}
  INSERT INTO leases (node_id, run_id, not_after, nonce, roles)
  SELECT node_id, run_id, clock_timestamp() + interval '12 hours', 'nonce-' || run_id, ARRAY[role] FROM filling`,

  grants: `${FILLING}
  INSERT INTO grants (node_id, run_id, roles, released_at, why)
  SELECT node_id, run_id, ARRAY[role], CASE $6 WHEN 'released' THEN clock_timestamp() END,
         CASE $6 WHEN 'released' THEN 'succeeded' END
    FROM filling`,

  events: `${FILLING}
  INSERT INTO events (run_id, kind, data)
  SELECT run_id, kind,
         CASE kind WHEN 'queued' THEN '{"reason":"BUSY"}'
                   WHEN 'granted' THEN jsonb_build_object('nodes', ARRAY[node_id])
                   WHEN 'step_claimed' THEN jsonb_build_object('seq', 1, 'attempt', 1, 'node_id', node_id, 'instance', '')
                   WHEN 'step_ended' THEN '{"seq":1,"attempt":1,"state":"DONE"}'
                   ELSE jsonb_build_object('state', 'SUCCEEDED', 'reason', 'succeeded',
                     'by', jsonb_build_object('kind', 'node', 'name', node_id), 'released', ARRAY[node_id]) END
    FROM filling, unnest($6::text[]) AS kind`,

  // Last: from then on the database refuses changes. A record that is sealed is nothing that a reaper would still have to do.
  records: `${FILLING}
  INSERT INTO records (run_id, closed_at, sealed_at, files, sums, digest)
  SELECT run_id, closed_at, closed_at, CASE WHEN closed_at IS NOT NULL THEN '{}'::json END,
         CASE WHEN closed_at IS NOT NULL THEN '' END, CASE WHEN closed_at IS NOT NULL THEN 'sha256:' || repeat('0', 64) END
    FROM filling, (SELECT CASE $6 WHEN 'closed' THEN clock_timestamp() END AS closed_at) AS record`,
};

const STATES = {
  finished: {
    run: 'SUCCEEDED',
    step: 'DONE',
    grant: 'released',
    record: 'closed',
    events: ['granted', 'step_claimed', 'step_ended', 'ended'],
  },
  queued: { run: 'QUEUED', step: 'PENDING', record: 'open', events: ['queued'] },
  /** Its step is bound, and nobody has claimed it. */
  bound: { run: 'RUNNING', step: 'PENDING', grant: 'open', lease: true, record: 'open', events: ['granted'] },
  claimed: {
    run: 'RUNNING',
    step: 'CLAIMED',
    grant: 'open',
    lease: true,
    record: 'open',
    events: ['granted', 'step_claimed'],
  },
};

/**
 * Fills `count` runs, named `<prefix>0000000` and so on from `from`, `age` seconds old. All but queued ones take one of
 * the nodes each. With `unchecked` no trigger and no foreign key is asked: for the large fills of a database that no program
 * has looked at yet, which take a third of the time so. One that is at work learns from triggers what was changed.
 */
export async function fillRuns(client, filling) {
  const { state, kinds, prefix, from = 0, count, nodes = [], age = 3600, unchecked = false } = filling;
  if (count === 0) return;
  const { run, step, grant, lease, record, events } = STATES[state];
  const rows = kinds.map((kind, n) => ({ n, ...kind, steps: stepsOf(kind.contract), role: kind.requires[0].as, age }));
  const given = [prefix, from, from + count - 1, JSON.stringify(rows), state === 'queued' ? [] : nodes];
  await client.query('BEGIN');
  if (unchecked) await client.query('SET LOCAL session_replication_role = replica');
  await send(client, 'runs', [...given, run]);
  await send(client, 'steps', [...given, step]);
  if (step !== 'PENDING') await send(client, 'attempts', [...given, step]);
  if (lease) await send(client, 'leases', given);
  if (grant) await send(client, 'grants', [...given, grant]);
  await send(client, 'events', [...given, events]);
  await send(client, 'records', [...given, record]);
  await client.query('COMMIT');
}

/** Where those that were filled with this prefix end, by whoever has played on the database before. */
export async function nextIndex(client, prefix) {
  const text = `SELECT coalesce(max(substr(run_id, length($1) + 1))::int + 1, 0) AS next
                  FROM runs WHERE run_id >= $1 AND run_id < $1 || '~'`;
  return (await client.query(text, [prefix])).rows[0].next;
}

function stepsOf({ steps }) {
  return steps.map(({ id, uses, timeout_seconds }, index) => ({
    seq: index + 1,
    id,
    kind: 'run',
    uses,
    needs: index === 0 ? [] : [steps[index - 1].id],
    timeout_seconds,
  }));
}

/** Named, since a release has the next run put in line behind it by the same statements, a thousand times. */
function send(client, name, values) {
  return client.query({ name: `fill-${name}`, text: STATEMENTS[name], values });
}

/** Ends every run whose name begins so, between two slices: the nodes are free again, and nothing of them waits. */
export async function endRuns(client, prefix) {
  const range = [prefix, `${prefix}~`];
  const mine = `SELECT run_id FROM runs WHERE run_id >= $1 AND run_id < $2 AND ended_at IS NULL`;
  await client.query('BEGIN');
  for (const statement of [
    `UPDATE steps SET state = 'CANCELLED', ended_at = clock_timestamp() WHERE run_id IN (${mine}) AND ended_at IS NULL`,
    `UPDATE attempts SET state = 'CANCELLED', ended_at = clock_timestamp() WHERE run_id IN (${mine}) AND ended_at IS NULL`,
    `UPDATE grants SET released_at = clock_timestamp(), why = 'cancelled' WHERE run_id IN (${mine}) AND released_at IS NULL`,
    `DELETE FROM leases WHERE run_id IN (${mine})`,
    `WITH ended AS (
       UPDATE runs SET state = 'CANCELLED', ended_at = clock_timestamp(), version = version + 1,
                       verdict = '{"reason":"cancelled","detail":"between two slices","by":{"kind":"person","name":"bench"},"checks":[]}'
        WHERE run_id IN (${mine}) RETURNING run_id)
     UPDATE records r SET closed_at = clock_timestamp(), sealed_at = clock_timestamp(), files = '{}', sums = '',
                          digest = 'sha256:' || repeat('0', 64)
       FROM ended WHERE r.run_id = ended.run_id`,
    // Those that ended by themselves, whose record is not sealed where nobody came by HTTP.
    `UPDATE records SET sealed_at = clock_timestamp(), files = '{}', sums = '', digest = 'sha256:' || repeat('0', 64)
      WHERE run_id >= $1 AND run_id < $2 AND closed_at IS NOT NULL AND digest IS NULL`,
  ]) {
    await client.query(statement, range);
  }
  await client.query('COMMIT');
}
