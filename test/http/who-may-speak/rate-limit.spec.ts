import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Tokens } from '../../../src/platform/access/tokens.js';
import { R } from '../../support/contracts.js';
import type { Answer, Send } from '../../support/http.js';
import { startTestMediator, type TestMediator } from '../../support/mediator.js';
import { PlayedNode } from '../../support/played-node.js';
import { expectProblem } from '../../support/problem.js';
import { bearer, speakingWith, TokensFile } from '../../support/tokens.js';

/** One call in 100 seconds: what one second brings is less than a call, so one is let through at once, and no other in a test. */
const RARELY = { MEDIATOR_RATE_LIMIT_PER_SECOND: '0.01' };
const EVERYWHERE = ['/', '/livez', '/readyz', '/metrics', '/openapi.json', '/problems/rate_limited'];

function expectLimited(answer: Answer): void {
  expectProblem(answer, 429, 'rate_limited');
  const after = Number(answer.headers.get('retry-after'));
  expect(after).toBeGreaterThan(0);
  expect(after).toBeLessThanOrEqual(100);
}

describe('a limit of requests, with tokens', () => {
  let file: TokensFile;
  let server: TestMediator;
  beforeAll(async () => {
    file = new TokensFile();
    file.add({ name: 'first', role: 'operator' });
    server = await startTestMediator({ env: { MEDIATOR_TOKENS_FILE: file.path, ...RARELY } });
  });
  afterEach(async () => expect(await server.violations()).toEqual([]));
  afterAll(async () => {
    await server.close();
    file.remove();
  });

  /** Somebody who has not spoken yet. */
  let people = 0;
  const someone = (role: 'submitter' | 'node' | 'operator'): Send => {
    const token = file.add({ name: `someone-${++people}`, role, ...(role === 'node' && { node_id: 'n1' }) });
    server.mediator.app.get(Tokens).reload();
    return speakingWith(server.send, token);
  };

  it('is each token’s own, and refuses before anything is stored', async () => {
    const [ann, bob] = [someone('submitter'), someone('submitter')];
    expect((await ann('GET', '/v1/runs')).status).toBe(200);
    expectLimited(await ann('POST', '/v1/runs', { body: R('nowhere', { run_id: 'not-stored' }) }));
    expect((await bob('GET', '/v1/runs/not-stored')).status).toBe(404);
    expectLimited(await bob('GET', '/v1/runs'));
  });

  it('counts what is forbidden too, and a call that waits once', async () => {
    const [node, desk] = [someone('node'), someone('operator')];
    expectProblem(await node('GET', '/v1/runs'), 403, 'forbidden');
    expectLimited(await new PlayedNode(node, 'n1', []).advertise());
    expect((await new PlayedNode(desk, 'n1', []).claim(1)).status).toBe(204);
    expectLimited(await desk('GET', '/v1/runs'));
  });

  it('holds for who shows no known token, by their address, and not for those who do', async () => {
    expectProblem(await server.send('GET', '/v1/runs'), 401, 'unauthenticated');
    expectLimited(await server.send('GET', '/v1/runs', { headers: bearer('mdt_wrong') }));
    expect((await someone('submitter')('GET', '/v1/runs')).status).toBe(200);
  });

  it('does not hold for probes and pages', async () => {
    for (const path of [...EVERYWHERE, ...EVERYWHERE]) expect((await server.send('GET', path)).status).toBe(200);
  });
});

describe('a limit of requests, in open mode', () => {
  it('is by address, whoever they say they are; without one there is none', async () => {
    const limited = await startTestMediator({ env: RARELY });
    const free = await startTestMediator({ database: limited.database });
    const as = (name: string) => ({ headers: { 'mediator-principal': name } });
    expect((await limited.send('GET', '/v1/runs', as('ann'))).status).toBe(200);
    expectLimited(await limited.send('GET', '/v1/runs', as('bob')));
    for (const path of EVERYWHERE) expect((await limited.send('GET', path)).status).toBe(200);
    const many = await Promise.all(Array.from({ length: 100 }, () => free.send('GET', '/v1/runs')));
    expect(many.every(({ status }) => status === 200)).toBe(true);
    expect(await free.violations()).toEqual([]);
    await free.stop();
    await limited.close();
  });
});
