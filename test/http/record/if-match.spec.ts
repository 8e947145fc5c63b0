import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { atFailpoints } from '../../../src/platform/failpoints.js';
import { question } from '../../support/asks.js';
import { needs, R } from '../../support/contracts.js';
import type { Answer } from '../../support/http.js';
import { startTestMediator, type TestMediator } from '../../support/mediator.js';
import { blockedOn } from '../../support/parked.js';
import { hold, once } from '../../support/points.js';
import { expectProblem } from '../../support/problem.js';
import { show, submit } from '../../support/queue.js';
import { everything } from '../../support/stored.js';
import { TokensFile } from '../../support/tokens.js';

describe('If-Match', () => {
  let server: TestMediator;
  const file = new TokensFile();
  const [ann, bob, ops] = (['ann', 'bob', 'ops'] as const).map((name) => {
    return `Bearer ${file.add({ name, role: name === 'ops' ? 'operator' : 'submitter' })}`;
  }) as [string, string, string];

  beforeAll(async () => {
    server = await startTestMediator({ env: { MEDIATOR_TOKENS_FILE: file.path } });
    const { send } = server;
    // Whoever does not say who they are is the operator.
    server.send = (method, path, { headers = {}, ...more } = {}) =>
      send(method, path, { ...more, headers: { authorization: ops, ...headers } });
    for (const name of ['x', 'y', 'z']) {
      const capabilities = [{ capability: 'board', attrs: { role: name } }];
      expect(await server.send('POST', '/v1/nodes', { body: { node_id: name, capabilities } })).toMatchObject({
        status: 200,
      });
    }
  });
  afterEach(async () => {
    atFailpoints(undefined);
    expect(await server.violations()).toEqual([]);
  });
  afterAll(async () => {
    await server.close();
    file.remove();
  });

  const start = async (run_id: string, role: string, more: object = {}): Promise<void> => {
    const body = { ...R(role, { run_id }), ...more };
    const headers = { authorization: ann };
    expect((await server.send('POST', '/v1/runs', { body, headers })).status).toBe(201);
  };
  const version = async (runId: string): Promise<number> => (await show(server, runId)).version;
  const cancel = (runId: string, ifMatch: string, authorization = ann): Promise<Answer> =>
    server.send('POST', `/v1/runs/${runId}/cancel`, { headers: { authorization, 'if-match': ifMatch } });
  const reply = (runId: string, ifMatch: string, body: unknown = { ok: true }, authorization = ann): Promise<Answer> =>
    server.send('POST', `/v1/runs/${runId}/steps/1/answer`, {
      body,
      headers: { authorization, 'if-match': ifMatch },
    });

  it('of another version, a cancel changes nothing; of this one it cancels, and the ETag is the version then', async () => {
    await start('cancel', 'x');
    const now = await version('cancel');
    const before = await everything(server.database);
    for (const other of [`"${now + 1}"`, `"0", "${now}0"`, `W/"${now}"`, '""']) {
      const { detail } = expectProblem(await cancel('cancel', other), 412, 'version_mismatch');
      expect(detail).toContain(`version ${now}`);
    }
    expect(await everything(server.database)).toEqual(before);

    const cancelled = await cancel('cancel', `"0", W/"1", "${now}"`);
    expect(cancelled).toMatchObject({ status: 200, body: { state: 'CANCELLED', record: { state: 'SEALED' } } });
    expect(cancelled.headers.get('etag')).toBe(`"${cancelled.body.version}"`);
    expect(await version('cancel')).toBe(cancelled.body.version);
  });

  it('is asked of a run that is over, too', async () => {
    const over = await version('cancel');
    expectProblem(await cancel('cancel', `"${over - 1}"`), 412, 'version_mismatch');
    expect((await cancel('cancel', `"${over}"`)).status).toBe(200);
    expect((await cancel('cancel', '*')).status).toBe(200);
  });

  it('comes after 400, 404 and 403', async () => {
    await start('order', 'x');
    for (const malformed of ['1', '"1" "2"', '*, "1"', ',']) {
      expectProblem(await cancel('order', malformed), 400, 'invalid_request');
      expectProblem(await reply('order', malformed), 400, 'invalid_request');
    }
    expectProblem(await cancel('nowhere', '"0"'), 404, 'not_found');
    expectProblem(await reply('nowhere', '"0"'), 404, 'not_found');
    expectProblem(await cancel('order', '"0"', bob), 403, 'forbidden');
    expectProblem(await cancel('order', '"0"', ops), 412, 'version_mismatch');
    expect((await cancel('order', '*')).body.state).toBe('CANCELLED');
  });

  it('of an answer comes after who may give it, and before whether it is asked and whether it fits', async () => {
    await start('answer', 'x', { requires: [needs('x')], steps: [question('look', { answerers: ['ann'] })] });
    const now = await version('answer');
    expectProblem(await reply('answer', '"0"', { ok: true }, bob), 403, 'not_answerer');
    expectProblem(await reply('answer', '"0"', { ok: 'no' }), 412, 'version_mismatch');
    expectProblem(await reply('answer', `"${now}"`, { ok: 'no' }), 422, 'schema_violation');
    expectProblem(await reply('answer', '"0"'), 412, 'version_mismatch');

    expect(await reply('answer', `"${now}"`)).toMatchObject({ status: 200, body: { run_state: 'SUCCEEDED' } });

    expectProblem(await reply('answer', `"${now}"`), 412, 'version_mismatch');
    expectProblem(await reply('answer', `"${await version('answer')}"`), 409, 'not_asked');
    expectProblem(await reply('answer', '*'), 409, 'not_asked');
  });

  it('of an answer to a step that asks nothing comes before that it asks nothing', async () => {
    await start('no-question', 'x');
    expectProblem(await reply('no-question', '"0"'), 412, 'version_mismatch');
    expectProblem(await reply('no-question', `"${await version('no-question')}"`), 409, 'not_asked');
    await cancel('no-question', '*');
  });

  it.each([
    ['a cancel', 'y', (runId: string, tag: string) => cancel(runId, tag)],
    ['an answer', 'z', (runId: string, tag: string) => reply(runId, tag)],
  ])('of %s is judged behind the lock: what changed the run while it waited counts', async (_what, role, act) => {
    const runId = `behind-${role}`;
    const steps = [question('look'), { id: 'work', uses: role, run: ['true'], needs: [] }];
    await start(runId, role, { requires: [needs(role)], steps });
    const before = await version(runId);
    const claim = hold('claim.before-commit');
    const claimed = server.send('POST', `/v1/nodes/${role}/claim?wait=0`);
    await claim.reached;
    const acted = act(runId, `"${before}"`);
    await blockedOn(server.database, 'records.lock-run');
    claim.letGo();

    expect((await claimed).status).toBe(200);
    expectProblem(await acted, 412, 'version_mismatch');
    expect(await show(server, runId)).toMatchObject({ state: 'RUNNING', version: before + 1 });
    expect((await cancel(runId, `"${before + 1}"`)).body.state).toBe('CANCELLED');
  });

  it('knows of the seal: the version rises by one with it, so that ETag and 304 tell of it', async () => {
    await submit(server, R('x', { run_id: 'seal' }));
    once('seal.before-commit', () => {
      throw new Error('forced');
    });
    const open = await cancel('seal', '*', ops);
    expect(open.body).toMatchObject({ state: 'CANCELLED', record: { state: 'OPEN' } });
    const had = { headers: { 'if-none-match': open.headers.get('etag')! } };
    expect((await server.send('GET', '/v1/runs/seal', had)).status).toBe(304);

    expect((await server.reap()).sealed).toBe(1);

    const sealed = await server.send('GET', '/v1/runs/seal', had);
    expect(sealed).toMatchObject({
      status: 200,
      body: { version: open.body.version + 1, record: { state: 'SEALED' } },
    });
    expect(sealed.headers.get('etag')).toBe(`"${open.body.version + 1}"`);
    const { items } = (await server.send('GET', '/v1/runs')).body;
    expect(items.find(({ run_id }: any) => run_id === 'seal').version).toBe(open.body.version + 1);
    expectProblem(await cancel('seal', `"${open.body.version}"`, ops), 412, 'version_mismatch');
    expect((await cancel('seal', `"${open.body.version + 1}"`, ops)).status).toBe(200);
  });
});
