import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { question } from '../support/asks.js';
import { needs, step } from '../support/contracts.js';
import { createDatabase, type TestDatabase } from '../support/database.js';
import { type Answer, type Send, sender } from '../support/http.js';
import { besideNeighbour, expectUndisturbed, type Neighbour } from '../support/neighbour.js';
import { PlayedNode } from '../support/played-node.js';
import { expectProblem } from '../support/problem.js';
import { spawnServer, type SpawnedServer } from '../support/spawned-server.js';
import { upload } from '../support/uploads.js';

/** Each level holds the next one twice. */
function tower(levels: number, of = 'anyOf'): Record<string, unknown> {
  const next = (n: number): object => ({ [of]: [{ $ref: `#/$defs/d${n}` }, { $ref: `#/$defs/d${n}` }] });
  const $defs = Object.fromEntries(Array.from({ length: levels }, (_, n) => [`d${n}`, next(n + 1)]));
  const properties = { v: { $ref: '#/$defs/d0' } };
  return { type: 'object', properties, $defs: { ...$defs, [`d${levels}`]: { type: 'string' } } };
}

const UNIQUE = {
  type: 'object',
  properties: { v: { $ref: '#/$defs/u' } },
  $defs: { u: { uniqueItems: true, items: { $ref: '#/$defs/u' } } },
};
const nested = (levels: number): unknown => JSON.parse('['.repeat(levels) + ']'.repeat(levels));

/** What is said of whom it is asked: a schema, a value that it does not take or takes for ever to judge. */
const HOSTILE: [string, object, unknown][] = [
  ['ten levels of anyOf', tower(10), 1],
  ['forty levels of oneOf', tower(40, 'oneOf'), 1],
  ['what is nested, compared at each level', UNIQUE, Array.from({ length: 600 }, () => nested(80))],
  [
    'a pattern of many classes',
    { type: 'object', properties: { v: { pattern: '(?:[a-z]|\\p{L}){200}!' } } },
    'é'.repeat(100_000),
  ],
];

describe('a schema whose judging explodes', () => {
  let database: TestDatabase;
  let spawned: SpawnedServer;
  let url: string;
  let send: Send;
  let node: PlayedNode;
  beforeAll(async () => {
    database = await createDatabase();
    spawned = spawnServer({
      DATABASE_URL: database.url,
      MEDIATOR_RENEW_SECONDS: '3600',
      MEDIATOR_LEASE_TTL_SECONDS: '36000',
    });
    url = await spawned.url();
    send = sender(url);
    node = new PlayedNode(send, 'n1', [{ role: 'x' }]);
    await node.advertise();
    await new PlayedNode(send, 'n2', [{ role: 'neighbour' }]).advertise();
  }, 30_000);
  afterEach(async () => {
    for (const run_id of ['answer', 'upload'].flatMap((what) => HOSTILE.map((_, n) => `${what}-${n}`))) {
      await send('POST', `/v1/runs/${run_id}/cancel`, { body: {} });
    }
    expect(await database.sql('SELECT * FROM invariants')).toEqual([]);
  });
  afterAll(async () => {
    expect(await spawned.stop()).toBe(0);
    expect(spawned.output()).not.toContain('"level":50');
    await database.drop();
  });

  /** What was answered, and that the others did not notice. */
  const beside = async (attack: () => Promise<Answer[]>, seconds = 2): Promise<Answer[]> => {
    let answers: Answer[] = [];
    let took = 0;
    const seen: Neighbour = await besideNeighbour(url, async () => {
      const began = performance.now();
      answers = await attack();
      took = performance.now() - began;
    });
    expectUndisturbed(seen);
    expect(took).toBeLessThan(seconds * 1000);
    return answers;
  };

  it.each(HOSTILE)('L3: %s, of an answer: 422, and a good answer is taken', async (what, schema, v) => {
    const run_id = `answer-${HOSTILE.findIndex(([one]) => one === what)}`;
    const steps = [question('look', {}, { schema: { verdict: schema } })];
    expect((await send('POST', '/v1/runs', { body: { run_id, requires: [needs('x')], steps } })).status).toBe(201);
    const reply = (body: unknown): Promise<Answer> => send('POST', `/v1/runs/${run_id}/steps/1/answer`, { body });
    const [refused] = await beside(async () => [await reply({ v })]);
    expectProblem(refused!, 422, 'schema_violation');
    expect((await send('GET', `/v1/runs/${run_id}`)).body.steps[0].state).toBe('ASKED');
    expect((await reply({})).status).toBe(200);
  });

  it.each(HOSTILE)('L3: %s, of an upload: 422, and a good one is taken', async (what, schema, v) => {
    const run_id = `upload-${HOSTILE.findIndex(([one]) => one === what)}`;
    const steps = [step('only', 'x', { out: ['o'], schema: { o: schema } })];
    expect((await send('POST', '/v1/runs', { body: { run_id, requires: [needs('x')], steps } })).status).toBe(201);
    const held = (await node.claim()).body;
    const [refused] = await beside(async () => [await upload({ url }, held, 'o', JSON.stringify({ v }))]);
    expectProblem(refused!, 422, 'schema_violation');
    expect((await upload({ url }, held, 'o', '{}')).status).toBe(204);
    await node.report(held);
  });

  it.each(HOSTILE)('L3: %s, of a default in a dry run: 400', async (_what, schema, v) => {
    const ask = { timeout_seconds: 60, default: { v } };
    const body = { requires: [needs('x')], steps: [question('look', ask, { schema: { verdict: schema } })] };
    const [refused] = await beside(async () => [await send('POST', '/v1/runs/dry-run', { body })]);
    const { errors } = expectProblem(refused!, 400, 'invalid_contract');
    expect((errors as { pointer: string }[])[0]!.pointer).toMatch(/^\/steps\/0\/ask\/default/);
  });

  it('L3: many at once of one caller take turns, and others are judged between them', async () => {
    const steps = [question('look', {}, { schema: { verdict: tower(40, 'oneOf') } })];
    await send('POST', '/v1/runs', { body: { run_id: 'crowd', requires: [needs('x')], steps } });
    const reply = (name: string): Promise<Answer> =>
      send('POST', '/v1/runs/crowd/steps/1/answer', { body: { v: 1 }, headers: { 'mediator-principal': name } });
    const answers = await beside(async () => {
      const crowd = Array.from({ length: 6 }, () => reply('mallory'));
      const began = performance.now();
      const other = await reply('ann');
      expect(performance.now() - began).toBeLessThan(4000);
      return [other, ...(await Promise.all(crowd))];
    }, 20);
    for (const one of answers) expectProblem(one, 422, 'schema_violation');
    await send('POST', '/v1/runs/crowd/steps/1/answer', { body: {} });
  }, 60_000);
});
