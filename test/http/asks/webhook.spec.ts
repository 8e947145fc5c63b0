import { createHmac } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { answer, inbox, question, YES_OR_NO } from '../../support/asks.js';
import { needs, R, step } from '../../support/contracts.js';
import { createDatabase, type TestDatabase } from '../../support/database.js';
import { eventually } from '../../support/eventually.js';
import { startTestMediator, type TestMediator } from '../../support/mediator.js';
import { openReceiver, type Receiver } from '../../support/receiver.js';
import { cancel, show, submit, submitAll } from '../../support/queue.js';

const SECRET = 'between us';

describe('the webhook of questions', () => {
  let database: TestDatabase;
  let receiver: Receiver;
  let server: TestMediator;
  const servers = new Set<TestMediator>();
  beforeAll(async () => {
    database = await createDatabase();
  });
  beforeEach(async () => {
    receiver = await openReceiver();
    server = await open();
    for (const name of ['n1', 'n2', 'n3', 'n4', 'n5', 'n6']) await server.node(name, [{ role: 'x' }]).advertise();
  });
  afterEach(async () => {
    try {
      const [one = await open()] = servers;
      // Whoever waits is cancelled first: a run that is promoted now would raise its question.
      const runs = await database.sql<any>('SELECT run_id FROM runs WHERE ended_at IS NULL ORDER BY seq DESC');
      for (const { run_id } of runs) await cancel(one, run_id);
      expect(await database.sql('SELECT * FROM invariants')).toEqual([]);
    } finally {
      for (const one of servers) await one.stop();
      servers.clear();
      await receiver.close();
    }
    expect(await database.sql('SELECT * FROM ask_notices')).toEqual([]);
  });
  afterAll(() => database.drop());

  const open = async (env: Record<string, string> = {}): Promise<TestMediator> => {
    const signed = { MEDIATOR_ASK_WEBHOOK_URL: receiver.url, MEDIATOR_ASK_WEBHOOK_SECRET: SECRET };
    const one = await startTestMediator({ database, env: { ...signed, ...env } });
    servers.add(one);
    return one;
  };
  const stop = async (one: TestMediator): Promise<void> => {
    servers.delete(one);
    await one.stop();
  };
  const start = async (run_id: string, ...steps: object[]): Promise<void> => {
    expect((await submit(server, { run_id, requires: [needs('x')], steps })).status).toBe(201);
  };
  const failed = (one = server): Promise<number> => one.figure('mediator_ask_notices_total{result="failed"}');
  const sent = (one = server): Promise<number> => one.figure('mediator_ask_notices_total{result="sent"}');
  const tellingOf = (runId: string): string[] =>
    receiver.told.filter(({ body }) => body.run_id === runId).map(({ body }) => `${body.id}.${body.attempt}`);

  it('B12 first step an ask: no question while QUEUED, one after the promotion, and its webhook after the commit', async () => {
    const node = server.node('B12-N1', [{ role: 'b12' }]);
    await node.advertise();
    const contract = R('b12', {
      run_id: 'b12-b',
      steps: [question('look', { answerers: ['p'] }), step('after', 'b12')],
    });
    expect(await submitAll(server, R('b12', { run_id: 'b12-a' }), contract)).toEqual([201, 202]);
    expect(await inbox(server)).toEqual([]);
    expect(await database.sql('SELECT * FROM asks')).toEqual([]);
    expect(await database.sql('SELECT * FROM ask_notices')).toEqual([]);
    const seen: unknown[] = [];
    receiver.answer(async ({ body }) => {
      seen.push(await database.sql('SELECT state, promoted_whys FROM runs WHERE run_id = $1', [body.run_id]));
      seen.push((await inbox(server)).map((item) => item.run_id));
      return 200;
    });

    expect((await node.work()).body.run_state).toBe('SUCCEEDED');

    expect(await inbox(server)).toMatchObject([{ run_id: 'b12-b', id: 'look' }]);
    const [told] = await receiver.count(1);
    await eventually('it counts as sent', async () => (await sent()) === 1);
    expect(seen).toEqual([[{ state: 'RUNNING', promoted_whys: ['result'] }], ['b12-b']]);
    expect(told!.headers['mediator-signature']).toBe(
      `sha256=${createHmac('sha256', SECRET).update(told!.text).digest('hex')}`,
    );
    const [item] = await inbox(server);
    expect(told!.body).toEqual({
      run_id: 'b12-b',
      seq: 1,
      id: 'look',
      attempt: 1,
      work_id: null,
      principal: 'anonymous',
      prompt: 'look?',
      schema: YES_OR_NO,
      answerers: ['p'],
      asked_at: item.asked_at,
      deadline: null,
    });
    expect(receiver.told).toHaveLength(1);
  });

  it('tells of each question once: at creation, after a report, after an answer, in the next round of a loop', async () => {
    const loop = { back_to: 'two', max: 2, until: { exit_code: 0 } };
    await start(
      'each',
      question('one'),
      question('two'),
      step('try', 'x', { loop, allow_failure: true }),
      question('three'),
    );
    await answer(server, 'each', 1);
    await answer(server, 'each', 2);
    const node = server.node((await show(server, 'each')).steps[2].node_id);
    expect((await node.work({ exit_code: 1 })).body.rolled_back).toBe(true);
    await answer(server, 'each', 2);
    await node.work();
    await eventually('all are told', async () => (await database.sql('SELECT 1 FROM ask_notices')).length === 0);
    // What was answered before its notice was taken is not told any more; nothing is told twice.
    await eventually('the last is told', () => tellingOf('each').includes('three.1'));
    expect(new Set(tellingOf('each')).size).toBe(tellingOf('each').length);
    expect(tellingOf('each').every((name) => ['one.1', 'two.1', 'two.2', 'three.1'].includes(name))).toBe(true);
  });

  it('a receiver that answers 500 twice is told a third time', async () => {
    receiver.answer((_told, count) => (count <= 2 ? 500 : 200));
    await start('retry', question('look'));
    const [first, second, third] = await receiver.count(3);
    await eventually('it counts as sent', async () => (await sent()) === 1);
    expect([second!.text, third!.text]).toEqual([first!.text, first!.text]);
    expect(await failed()).toBe(0);
    expect(receiver.told).toHaveLength(3);
  });

  it('a receiver that hangs delays no request and no run, is sent no more than a few at once, and no stop', async () => {
    receiver.answer(() => undefined);
    const ids = ['h1', 'h2', 'h3', 'h4', 'h5', 'h6'];
    for (const id of ids) await start(id, question('look'));
    await receiver.count(4);
    for (const id of ids.slice(1)) expect((await answer(server, id, 1)).body.run_state).toBe('SUCCEEDED');
    expect(receiver.told).toHaveLength(4);
    const before = performance.now();
    await stop(server);
    expect(performance.now() - before).toBeLessThan(3000);
    // h1 was never told for sure: it waits for the next server.
    expect(await database.sql('SELECT run_id, seq, attempt FROM ask_notices')).toEqual([
      { run_id: 'h1', seq: 1, attempt: 1 },
    ]);

    receiver.answer(() => 200);
    const next = await open();
    const told = await receiver.count(5);
    expect(told.at(-1)!.body.run_id).toBe('h1');
    await eventually('it counts as sent', async () => (await sent(next)) === 1);
  });

  it('a receiver that is gone costs nothing but the notice, and a restart sends what was not sent', async () => {
    await receiver.close();
    await start('gone', question('look'), step('after', 'x'));
    await eventually('it is being tried', async () => (await database.sql('SELECT 1 FROM ask_notices')).length === 0);
    expect(await inbox(server)).toMatchObject([{ run_id: 'gone' }]);
    await stop(server);
    expect(await database.sql('SELECT run_id FROM ask_notices')).toEqual([{ run_id: 'gone' }]);

    receiver = await openReceiver();
    await open();
    expect((await receiver.count(1))[0]!.body).toMatchObject({ run_id: 'gone', seq: 1, id: 'look' });
  });

  it('what a process that was killed had not taken is sent by the next start', async () => {
    await start('raised', question('look'));
    await eventually('it counts as sent', async () => (await sent()) === 1);
    await stop(server);
    // As it is where the process died between the commit and the look.
    await database.sql("INSERT INTO ask_notices (run_id, seq, attempt) VALUES ('raised', 1, 1)");
    await open();
    expect((await receiver.count(2))[1]!.body.run_id).toBe('raised');
  });

  it('several servers tell of each question once', async () => {
    await open();
    await open();
    const ids = Array.from({ length: 6 }, (_, index) => `several-${index}`);
    await Promise.all(
      ids.map((run_id) => submit(server, { run_id, requires: [needs('x')], steps: [question('look')] })),
    );
    await receiver.count(6);
    await eventually('all are told', async () => {
      const counts = await Promise.all([...servers].map((one) => sent(one)));
      return counts.reduce((sum, count) => sum + count, 0) === 6;
    });
    expect(receiver.told.map(({ body }) => body.run_id).sort()).toEqual(ids);
  });

  it('where there is no webhook nothing piles up, and nothing is sent', async () => {
    await stop(server);
    server = await open({ MEDIATOR_ASK_WEBHOOK_URL: '', MEDIATOR_ASK_WEBHOOK_SECRET: '' });
    await start('silent', question('look'));
    await eventually(
      'nobody is to be told',
      async () => (await database.sql('SELECT 1 FROM ask_notices')).length === 0,
    );
    expect(await inbox(server)).toMatchObject([{ run_id: 'silent' }]);
    expect(receiver.told).toEqual([]);
  });

  it('without a secret it is told unsigned', async () => {
    await stop(server);
    server = await open({ MEDIATOR_ASK_WEBHOOK_SECRET: '' });
    await start('unsigned', question('look'));
    const [told] = await receiver.count(1);
    expect(told!.headers['mediator-signature']).toBeUndefined();
  });

  it('N1: a question is told with its schema as it was sent', async () => {
    const schema = '{"type":"object","properties":{"10":{"maximum":1.0e3},"9":true}}';
    const asks = JSON.stringify(question('look')).replace(JSON.stringify(YES_OR_NO), schema);
    const body = `{"run_id":"as-sent","requires":[${JSON.stringify(needs('x'))}],"steps":[${asks}]}`;
    const headers = { 'content-type': 'application/json' };
    const submitted = await fetch(`${server.url}/v1/runs`, { method: 'POST', headers, body });
    expect([submitted.status, ((await submitted.json()) as { state: string }).state]).toEqual([201, 'RUNNING']);
    const [told] = await receiver.count(1);
    expect(told!.text).toContain(`"schema":${schema}`);
    const signature = createHmac('sha256', SECRET).update(told!.text).digest('hex');
    expect(told!.headers['mediator-signature']).toBe(`sha256=${signature}`);
  });
});
