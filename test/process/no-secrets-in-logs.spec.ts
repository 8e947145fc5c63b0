import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { question } from '../support/asks.js';
import { needs, step } from '../support/contracts.js';
import { createDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { type Send, sender } from '../support/http.js';
import { PlayedNode } from '../support/played-node.js';
import { openReceiver, type Receiver } from '../support/receiver.js';
import { type SpawnedServer, spawnServer } from '../support/spawned-server.js';
import { bearer, speakingWith, TokensFile } from '../support/tokens.js';
import { blobPath, put } from '../support/uploads.js';

// The start of a process takes a second, and more where the machine is busy.
jest.setTimeout(60_000);

/** Each is somewhere in what the server is told, and nowhere in what it writes. */
const MARK = /hush-[a-z-]+/g;
const ROLE = `quiet_${process.pid}`;

describe('what the server writes, with everything that can be written', () => {
  let database: TestDatabase;
  let file: TokensFile;
  let receiver: Receiver;
  let server: SpawnedServer;
  let url: string;
  let ann: Send;
  let tokens: { ann: string; n1: string };
  const told = new Set<string>();

  /** Notes a mark that was told to the server. */
  const hush = (mark: string): string => {
    told.add(`hush-${mark}`);
    return `hush-${mark}`;
  };

  beforeAll(async () => {
    database = await createDatabase();
    // A role of its own, since that of the tests may need no password.
    await database.sql(`CREATE ROLE ${ROLE} LOGIN SUPERUSER PASSWORD '${hush('database-password')}'`);
    const databaseUrl = database.url.replace(/^(\w+:\/\/)([^@/]*@)?/, `$1${ROLE}:hush-database-password@`);
    file = new TokensFile();
    tokens = {
      ann: file.add({ name: 'ann', role: 'submitter' }),
      n1: file.add({ name: 'n1', role: 'node', node_id: 'n1' }),
    };
    receiver = await openReceiver();
    server = spawnServer({
      DATABASE_URL: databaseUrl,
      MEDIATOR_TOKENS_FILE: file.path,
      MEDIATOR_ASK_WEBHOOK_URL: `${receiver.url}?key=${hush('webhook-key')}`,
      MEDIATOR_ASK_WEBHOOK_SECRET: hush('webhook-secret'),
      MEDIATOR_MAX_BLOB_BYTES: '1000',
      MEDIATOR_RENEW_SECONDS: '1',
      LOG_LEVEL: 'trace',
    });
    url = await server.url();
    ann = speakingWith(sender(url), tokens.ann);
  });
  afterAll(async () => {
    await server.stop();
    await receiver.close();
    await database.sql(`DROP ROLE ${ROLE}`);
    await database.drop();
    file.remove();
  });

  const post = (path: string, body: string, type = 'application/json', token = tokens.ann) =>
    fetch(url + path, { method: 'POST', body, headers: { 'content-type': type, ...bearer(token) } });

  const contract = {
    run_id: 'marked',
    work: { system: 'gerrit', change_id: hush('work'), patchset: 1 },
    requires: [needs('x')],
    steps: [
      step('run', 'x', { run: ['flash', hush('argument')], env: ['SECRET'], out: ['image'] }),
      question('look', { prompt: hush('prompt'), show: ['image'] }),
      step('last', 'x', { run: [hush('last')] }),
    ],
  };

  it('a run with its words, from submission to record, leaves none of them', async () => {
    const n1 = new PlayedNode(speakingWith(sender(url), tokens.n1), 'n1', [{ role: 'x' }]);
    n1.instance = hush('instance');
    expect((await n1.advertise({ label: hush('label') })).status).toBe(200);
    receiver.answer(() => 500);
    expect((await ann('POST', '/v1/runs', { body: contract })).status).toBe(201);
    const { body: claim } = await n1.claim();
    told.add(claim.lease.nonce);
    const headers = { ...bearer(tokens.n1), 'mediator-lease': claim.lease.nonce };
    expect((await put(url + blobPath(claim, 'image'), hush('output'), headers)).status).toBe(204);
    const log = `${url}/v1/runs/marked/steps/1/log`;
    expect((await put(log, hush('log'), headers)).status).toBe(204);
    expect((await put(`${log}?offset=99`, hush('log-gap'), headers)).status).toBe(409);
    expect((await put(url + blobPath(claim, 'large'), hush('large').repeat(500), headers)).status).toBe(413);
    expect((await n1.report(claim, { exit_code: 0, produced: ['image'] })).status).toBe(200);
    await receiver.count(1);
    const answer = (body: unknown) => ann('POST', '/v1/runs/marked/steps/2/answer', { body });
    expect((await answer({ ok: hush('wrong-answer') })).status).toBe(422);
    expect((await answer({ ok: true, note: hush('answer') })).status).toBe(200);
    const { body: last } = await n1.claim();
    expect((await n1.report(last, { error: hush('error') })).body).toMatchObject({ run_state: 'FAILED' });
    expect((await ann('GET', '/v1/runs/marked/record')).status).toBe(200);
    expect((await ann('POST', '/v1/runs/marked/cancel', { body: { reason: hush('reason') } })).status).toBe(200);
  });

  it('what is refused leaves nothing of itself either', async () => {
    const statuses = [
      await post('/v1/runs', `{"run_id": ${hush('broken-json')}`),
      await post('/v1/runs', JSON.stringify({ ...contract, run_id: hush('bad id ').replace(/ /g, '/') })),
      await post('/v1/runs', hush('wrong-type'), 'text/plain'),
      await post('/v1/nodes', JSON.stringify({ node_id: `../${hush('node')}` }), 'application/json', tokens.n1),
      await post('/v1/runs', JSON.stringify(contract), 'application/json', hush('wrong-token')),
      await fetch(`${url}/v1/runs?cursor=${hush('cursor')}`, { headers: bearer(tokens.ann) }),
      await fetch(`${url}/v1/runs?key=${hush('query')}`, { headers: { authorization: `Basic ${hush('basic')}` } }),
    ].map(({ status }) => status);
    expect(statuses).toEqual([400, 400, 415, 400, 401, 400, 401]);
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.end(`BREW ${hush('no-http')} HTTP/1.1\r\nAuthorization: Bearer ${hush('no-http-token')}\r\n\r\n`);
    let answer = '';
    for await (const chunk of socket) answer += String(chunk);
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
  });

  it('nor does a tokens file with a fault, or a database that goes away', async () => {
    file.write([{ name: hush('token-name'), role: 'x', sha256: hush('token-in-file') }]);
    server.child.kill('SIGHUP');
    await eventually('it has read the file', () => server.output().includes('the tokens file has faults'));
    await database.sql(`ALTER ROLE ${ROLE} NOLOGIN`);
    await database.sql(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${ROLE}'`);
    await eventually('it cannot reach its database', async () => (await ann('GET', '/v1/runs')).status >= 500);
    await database.sql(`ALTER ROLE ${ROLE} LOGIN`);
    await eventually('it can again', async () => (await ann('GET', '/v1/runs')).status === 200);
    expect(await server.stop()).toBe(0);
    expect(await database.sql('SELECT * FROM invariants')).toEqual([]);
  });

  it('in all it has written there is no mark, no token and no nonce', () => {
    const output = server.output();
    // It has written of all this, at every level.
    for (const path of ['/v1/runs', '/v1/runs/marked/steps/1/result', '/v1/runs/marked/steps/2/answer']) {
      expect(output).toContain(`"path":"${path}"`);
    }
    expect(output.split('\n').length).toBeGreaterThan(30);
    expect(told.size).toBeGreaterThan(25);
    expect([...told, ...Object.values(tokens)].filter((mark) => output.includes(mark))).toEqual([]);
    expect(output.match(MARK)).toBeNull();
  });
});
