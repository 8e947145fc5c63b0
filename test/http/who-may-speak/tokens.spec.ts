import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { Tokens } from '../../../src/platform/access/tokens.js';
import { question } from '../../support/asks.js';
import { R, step } from '../../support/contracts.js';
import type { Answer, Send } from '../../support/http.js';
import { park } from '../../support/parked.js';
import { type PlayedClaim, PlayedNode } from '../../support/played-node.js';
import { expectProblem } from '../../support/problem.js';
import { everything } from '../../support/stored.js';
import { bearer, speakingWith, TokensFile } from '../../support/tokens.js';
import { blobPath, put, upload, writeLog } from '../../support/uploads.js';
import { serverSuite } from '../../support/server-suite.js';

const file = new TokensFile();
const tokens = {
  ann: file.add({ name: 'ann', role: 'submitter' }),
  bob: file.add({ name: 'bob', role: 'submitter' }),
  desk: file.add({ name: 'desk', role: 'operator' }),
  n1: file.add({ name: 'n1-bench', role: 'node', node_id: 'n1' }),
  n2: file.add({ name: 'n2-bench', role: 'node', node_id: 'n2' }),
};
const server = serverSuite({
  tokens: file,
  tidy: async () => {
    for (const { run_id } of (await desk('GET', '/v1/runs?state=RUNNING')).body.items) {
      await desk('POST', `/v1/runs/${run_id}/cancel`);
    }
  },
});
const as = (name: keyof typeof tokens): Send => speakingWith(server.send, tokens[name]);
const [ann, bob, desk] = [as('ann'), as('bob'), as('desk')];
const n1 = new PlayedNode(as('n1'), 'n1', [{ role: 'x' }]);
const n2 = new PlayedNode(as('n2'), 'n2', [{ role: 'y' }]);
beforeAll(async () => {
  for (const node of [n1, n2]) expect((await node.advertise()).status).toBe(200);
});

/** Submits a run that needs both nodes, and claims its first step, which is n1's. */
async function begun(run_id: string): Promise<PlayedClaim> {
  const contract = { ...R('x'), requires: [...(R('x').requires as []), ...(R('y').requires as [])] };
  const steps = [step('one', 'x'), step('two', 'y')];
  expect((await ann('POST', '/v1/runs', { body: { ...contract, run_id, steps } })).status).toBe(201);
  return (await n1.claim()).body;
}

async function changesNothing(act: () => Promise<void>): Promise<void> {
  const before = await everything(server.database);
  await act();
  expect(await everything(server.database)).toEqual(before);
}

describe('F1 who shows no token that is known', () => {
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

  it.each([
    ['nothing', () => undefined],
    ['a wrong token', () => `Bearer mdt_${'A'.repeat(43)}`],
    ['a right token by a wrong scheme', () => `Basic ${tokens.desk}`],
    ['a right token without a scheme', () => tokens.desk],
    ['a scheme without a token', () => 'Bearer'],
    ['a scheme and a space', () => 'Bearer '],
    ['a right token with more', () => `Bearer ${tokens.desk}A`],
    ['a right token without its last character', () => `Bearer ${tokens.desk.slice(0, -1)}`],
    ['a right token in quotes', () => `Bearer "${tokens.desk}"`],
    ['two tokens', () => `Bearer ${tokens.desk} ${tokens.ann}`],
    ['the hash of a right token', () => `Bearer ${sha256(tokens.desk)}`],
    ['a name', () => 'Bearer desk'],
  ])('with %s is 401, wherever it is a token that is asked for', async (_what, shown) => {
    const authorization = shown();
    const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
    await changesNothing(async () => {
      for (const [method, path] of [
        ['GET', '/v1/runs'],
        ['HEAD', '/v1/runs'],
        ['POST', '/v1/runs'],
        ['POST', '/v1/nodes'],
        ['GET', '/v1/runs/none'],
        ['POST', '/v1/runs/none/cancel'],
        ['PUT', '/v1/runs/none/steps/1/log'],
      ] as const) {
        const answer = await server.send(method, path, { headers });
        expect({ path, status: answer.status }).toEqual({ path, status: 401 });
        // RFC 6750: who has shown no bearer token is told of no fault in it.
        const fault = authorization?.startsWith('Bearer') ? ' error="invalid_token"' : '';
        expect(answer.headers.get('www-authenticate')).toBe(`Bearer${fault}`);
        if (method !== 'HEAD') expectProblem(answer, 401, 'unauthenticated', path);
      }
    });
  });

  it('is told so before anything of the body is looked at', async () => {
    const large = new Uint8Array(2 * 1024 * 1024);
    for (const [body, type] of [
      ['{', 'application/json'] as const,
      ['x', 'text/plain'] as const,
      [large, 'application/json'] as const,
    ]) {
      const response = await fetch(`${server.url}/v1/runs`, {
        method: 'POST',
        body,
        headers: { 'content-type': type },
      });
      expect(response.status).toBe(401);
    }
  });

  it('is not told what the token was, nor whether it is nearly right', async () => {
    const [near, far] = [tokens.desk.slice(0, -1), 'mdt_other'];
    const answers = await Promise.all(
      [near, far].map((token) => server.send('GET', '/v1/runs', { headers: bearer(token) })),
    );
    const [one, other] = answers.map(({ body: { request_id: _, ...problem } }) => problem);
    expect(one).toEqual(other);
    expect(JSON.stringify(one)).not.toContain('mdt_');
  });

  it.each(['Bearer', 'bearer', 'BEARER', 'Bearer  '])('the scheme %j is known as well as any', async (scheme) => {
    const headers = { authorization: `${scheme} ${tokens.desk}` };
    expect((await server.send('GET', '/v1/runs', { headers })).status).toBe(200);
  });

  it.each([
    '/',
    '/livez',
    '/readyz',
    '/metrics',
    '/docs',
    '/docs/swagger-ui-bundle.js',
    '/openapi.json',
    '/problems/forbidden',
  ])('%s needs none', async (path) => expect((await server.send('GET', path)).status).toBe(200));

  it('what is not served is 404, and a wrong method 405, as for anybody', async () => {
    expectProblem(await server.send('GET', '/v1/nothing'), 404, 'route_not_found');
    expectProblem(await server.send('DELETE', '/v1/runs'), 405, 'method_not_allowed');
  });
});

describe('the principal', () => {
  it('is the name of the token, whatever Mediator-Principal says', async () => {
    const headers = { 'mediator-principal': 'desk' };
    const { status, body } = await ann('POST', '/v1/runs', { body: R('x', { run_id: 'named' }), headers });
    expect({ status, principal: body.principal }).toEqual({ status: 201, principal: 'ann' });
    expect((await ann('GET', '/v1/runs', { headers: { 'mediator-principal': 'ü' } })).status).toBe(200);
  });
});

describe('F2 a node token', () => {
  it('for another node’s advert, claim or report: 403, and nothing happened', async () => {
    const claim = await begun('others');
    const other = new PlayedNode(speakingWith(server.send, tokens.n2), 'n1', [{ role: 'x' }]);
    await changesNothing(async () => {
      expectProblem(await other.advertise({ drain: 'at-boundary' }), 403, 'forbidden', '/v1/nodes');
      expectProblem(await other.claim(), 403, 'forbidden', '/v1/nodes/n1/claim');
      expectProblem(await other.report(claim), 403, 'forbidden');
      expectProblem(await other.report({ ...claim, run_id: 'none' }), 403, 'forbidden');
      // By its own name it does not hold the step.
      expectProblem(await n2.report(claim), 409, 'stale_lease');
    });
  });

  it.each([
    ['that node’s nonce', (claim: PlayedClaim) => claim.lease.nonce],
    ['a nonce of nobody', () => 'made-up'],
  ])('for another node’s upload or log, with %s: 403, and nothing happened', async (_which, nonce) => {
    const claim = await begun(`uploads-${nonce({ lease: { nonce: 'x' } }).length}`);
    const sends = (path: string): Promise<Answer> =>
      put(server.url + path, 'bytes', { ...bearer(tokens.n2), 'mediator-lease': nonce(claim) });
    await changesNothing(async () => {
      for (const path of [blobPath(claim, 'image'), `/v1/runs/${claim.run_id}/steps/1/log`]) {
        expectProblem(await sends(path), 403, 'forbidden', path);
      }
      expectProblem(await sends(blobPath({ run_id: 'none', seq: 1 }, 'image')), 404, 'not_found');
    });
  });

  it('with its step, by the nonce of another node of the run: 403', async () => {
    const claim = await begun('crossed');
    const theirs = { run_id: 'crossed', seq: 2, lease: claim.lease };
    expectProblem(await upload(server, theirs, 'image', 'x', { headers: bearer(tokens.n2) }), 403, 'forbidden');
  });

  it('for its own: advert, claim, log, output and report', async () => {
    const claim = await begun('own');
    const headers = bearer(tokens.n1);
    expect((await upload(server, claim, 'image', 'the image', { headers })).status).toBe(204);
    const log = await put(`${server.url}/v1/runs/own/steps/1/log`, 'line\n', {
      ...headers,
      'mediator-lease': claim.lease.nonce,
    });
    expect(log.status).toBe(204);
    expect((await n1.report(claim)).body).toMatchObject({ step_state: 'DONE', run_state: 'RUNNING' });
    expect((await n2.work()).body).toMatchObject({ run_state: 'SUCCEEDED' });
    // Whose step it was is asked before how the run stands.
    const late = (token: string) => upload(server, claim, 'image', 'x', { headers: bearer(token) });
    expectProblem(await late(tokens.n2), 403, 'forbidden');
    expectProblem(await late(tokens.n1), 410, 'run_over');
  });

  it('reads the outputs of a run while it is held by it, and of no other', async () => {
    const claim = await begun('read');
    expect((await upload(server, claim, 'image', 'the image', { headers: bearer(tokens.n1) })).status).toBe(204);
    const read = (token: string, path: string) => server.send('GET', path, { headers: bearer(token) });
    for (const token of [tokens.n1, tokens.n2, tokens.bob]) {
      expect(await read(token, '/v1/runs/read/blobs/image')).toMatchObject({ status: 200, body: 'the image' });
    }
    expectProblem(await read(tokens.n1, '/v1/runs/none/blobs/image'), 404, 'not_found');
    expectProblem(await read(tokens.n1, '/v1/runs/read/steps/1/log'), 403, 'forbidden');
    await desk('POST', '/v1/runs/read/cancel');
    expectProblem(await read(tokens.n1, '/v1/runs/read/blobs/image'), 403, 'forbidden');
    expectProblem(await read(tokens.n1, '/v1/runs/read/blobs/none'), 403, 'forbidden');
    expect((await read(tokens.bob, '/v1/runs/read/blobs/image')).status).toBe(200);
  });

  it('of an operator speaks for every node', async () => {
    const any = new PlayedNode(desk, 'n1', [{ role: 'x' }]);
    await ann('POST', '/v1/runs', { body: R('x', { run_id: 'for-all' }) });
    expect((await any.advertise()).status).toBe(200);
    const { body: claim } = await any.claim();
    expect((await upload(server, claim, 'image', 'x', { headers: bearer(tokens.desk) })).status).toBe(204);
    expectProblem(await writeLog(server, claim, 'x'), 401, 'unauthenticated');
    expect((await any.report(claim)).body).toMatchObject({ run_state: 'SUCCEEDED' });
  });
});

describe('F3 a submitter cancels', () => {
  const cancel = (who: Send, runId: string) => who('POST', `/v1/runs/${runId}/cancel`);

  it('another’s run: 403, running, queued or over, and it stays as it is; an operator may', async () => {
    await ann('POST', '/v1/runs', { body: R('x', { run_id: 'running' }) });
    await ann('POST', '/v1/runs', { body: R('x', { run_id: 'queued' }) });
    await changesNothing(async () => {
      for (const run of ['running', 'queued']) expectProblem(await cancel(bob, run), 403, 'forbidden');
      expectProblem(await cancel(bob, 'none'), 404, 'not_found');
    });
    for (const run of ['queued', 'running']) {
      const { status, body } = await cancel(desk, run);
      expect({ status, state: body.state, by: body.verdict.by }).toEqual({
        status: 200,
        state: 'CANCELLED',
        by: { kind: 'person', name: 'desk' },
      });
      expectProblem(await cancel(bob, run), 403, 'forbidden');
    }
  });

  it('its own: 200, and again', async () => {
    await bob('POST', '/v1/runs', { body: R('x', { run_id: 'bobs' }) });
    // Submitted again by another, it is still bob's.
    expect((await ann('POST', '/v1/runs', { body: R('x', { run_id: 'bobs' }) })).body.principal).toBe('bob');
    expectProblem(await cancel(ann, 'bobs'), 403, 'forbidden');
    for (let times = 0; times < 2; times++) {
      expect(await cancel(bob, 'bobs')).toMatchObject({ status: 200, body: { state: 'CANCELLED' } });
    }
  });
});

describe('F4 a question that names who may answer', () => {
  it('is answered by them alone: a submitter and an operator who are not named get 403, and it stays open', async () => {
    const steps = [question('look', { answerers: ['bob'] }), step('end', 'x')];
    await ann('POST', '/v1/runs', { body: R('x', { run_id: 'asked', steps }) });
    const answer = (who: Send) => who('POST', '/v1/runs/asked/steps/1/answer', { body: { ok: true } });
    await changesNothing(async () => {
      for (const who of [ann, desk]) {
        expectProblem(await answer(who), 403, 'not_answerer');
        const claimed = { headers: { 'mediator-principal': 'bob' }, body: { ok: true } };
        expectProblem(await who('POST', '/v1/runs/asked/steps/1/answer', claimed), 403, 'not_answerer');
        expect((await who('GET', '/v1/asks')).body.items).toMatchObject([{ run_id: 'asked', can_answer: false }]);
      }
    });
    expect((await bob('GET', '/v1/asks')).body.items).toMatchObject([{ can_answer: true }]);
    expect(await answer(bob)).toMatchObject({ status: 200, body: { step_state: 'DONE' } });
  });

  it('and names nobody: whoever may submit answers, a node does not', async () => {
    const steps = [question('look'), step('end', 'x')];
    await ann('POST', '/v1/runs', { body: R('x', { run_id: 'open', steps }) });
    const path = '/v1/runs/open/steps/1/answer';
    const byNode = await server.send('POST', path, { body: { ok: true }, headers: bearer(tokens.n1) });
    expectProblem(byNode, 403, 'forbidden');
    expect((await bob('POST', path, { body: { ok: true } })).status).toBe(200);
  });
});

describe('a token that is revoked', () => {
  it('is not known in the next request; its claim that waits ends at once, without a step; those of others go on', async () => {
    const n3 = file.add({ name: 'n3', role: 'node', node_id: 'n3' });
    server.mediator.app.get(Tokens).reload();
    const gone = new PlayedNode(speakingWith(server.send, n3), 'n3', [{ role: 'z' }]);
    await gone.advertise();
    const parked = await park(server.database, () => gone.claim(300));
    const stays = await park(server.database, () => n1.claim(300));

    file.take('n3');
    server.mediator.app.get(Tokens).reload();

    expect((await parked.answer).status).toBe(204);
    expectProblem(await gone.claim(), 401, 'unauthenticated');
    await ann('POST', '/v1/runs', { body: R('z', { run_id: 'unserved' }) });
    const [row] = await server.database.sql("SELECT state FROM steps WHERE run_id = 'unserved'");
    expect(row).toEqual({ state: 'PENDING' });
    await ann('POST', '/v1/runs', { body: R('x', { run_id: 'served' }) });
    expect((await stays.answer).body).toMatchObject({ run_id: 'served' });
  });
});
