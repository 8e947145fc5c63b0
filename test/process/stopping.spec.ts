import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { R, step } from '../support/contracts.js';
import { createDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { type Send, sender } from '../support/http.js';
import { park } from '../support/parked.js';
import { PlayedNode } from '../support/played-node.js';
import { spawnServer, type SpawnedServer } from '../support/spawned-server.js';
import { blobPath, openUpload, type OpenUpload } from '../support/uploads.js';

// The start of a process takes a second, and more where the machine is busy.
jest.setTimeout(60_000);

describe('how long a stop takes', () => {
  let database: TestDatabase;
  let server: SpawnedServer;
  let url: string;
  let send: Send;
  let made = 0;
  beforeAll(async () => {
    database = await createDatabase();
  });
  afterEach(async () => {
    server.child.kill('SIGKILL');
    await server.exited;
    expect(await database.sql('SELECT * FROM invariants')).toEqual([]);
  });
  afterAll(() => database.drop());

  const start = async (env: Record<string, string>): Promise<void> => {
    server = spawnServer({ DATABASE_URL: database.url, MEDIATOR_RENEW_SECONDS: '3600', ...env });
    url = await server.url();
    send = sender(url);
  };
  const node = (name: string): PlayedNode => new PlayedNode(send, name, [{ role: name }]);
  const unready = (): Promise<string> =>
    eventually('it is not ready any more', async () => {
      const { status, body } = await send<any>('GET', '/readyz');
      return status === 503 && (body.error.server.phase as string);
    });
  /** A step that was claimed, and its output of which the first half is sent. */
  const beginUpload = async (): Promise<OpenUpload> => {
    const name = `up-${++made}`;
    await node(name).advertise();
    await send('POST', '/v1/runs', {
      body: R(name, { run_id: name, steps: [step('only', name, { out: ['image'] })] }),
    });
    const claim = (await node(name).claim()).body;
    const upload = openUpload(url + blobPath(claim, 'image'), {
      'mediator-lease': claim.lease.nonce,
      'content-type': 'application/octet-stream',
    });
    upload.send('the first half, ');
    await eventually('the upload is under way', async () => {
      const begun = await database.sql('SELECT FROM blobs WHERE run_id = $1', [name]);
      return begun.length === 1;
    });
    return upload;
  };

  it('while it lingers /readyz is 503 and everything is served: adverts, submissions, claims, parked calls', async () => {
    await start({ MEDIATOR_LINGER_SECONDS: '2.5' });
    const { answer: parked } = await park(database, () => node('n1').claim(300));
    const since = performance.now();
    server.child.kill('SIGTERM');

    expect(await unready()).toBe('lingering');
    expect((await send('GET', '/livez')).status).toBe(200);
    const advert = await node('n1').advertise();
    expect(advert.status).toBe(200);
    expect(advert.headers.get('connection')).not.toBe('close');
    expect((await send('POST', '/v1/runs', { body: R('n1', { run_id: 'late' }) })).status).toBe(201);
    // A call that was parked before the signal is given what has come since.
    const given = await parked;
    expect([given.status, given.body.run_id]).toEqual([200, 'late']);
    expect((await node('n1').report(given.body)).body).toMatchObject({ run_state: 'SUCCEEDED' });
    const { answer: last } = await park(database, () => node('n1').claim(300));
    expect((await last).status).toBe(204);

    expect(await server.exited).toBe(0);
    expect(performance.now() - since).toBeGreaterThan(2500);
    const [row] = await database.sql(
      'SELECT stopped_at IS NOT NULL AS stopped FROM servers ORDER BY started_at DESC LIMIT 1',
    );
    expect(row).toEqual({ stopped: true });
  });

  it.each(['SIGTERM', 'SIGINT'] as const)('a second signal, %s, ends the lingering: exit 0', async (signal) => {
    await start({ MEDIATOR_LINGER_SECONDS: '600' });
    server.child.kill('SIGTERM');
    expect(await unready()).toBe('lingering');
    server.child.kill(signal);
    expect(await server.exited).toBe(0);
  });

  it('an upload under way goes on until it is done, then the process ends', async () => {
    await start({});
    const upload = await beginUpload();
    const { answer: parked } = await park(database, () => node('nobody').claim(300));
    server.child.kill('SIGTERM');
    expect((await parked).status).toBe(204);
    upload.send('and the second');
    upload.end();
    expect((await upload.answer).status).toBe(204);
    const since = performance.now();
    expect(await server.exited).toBe(0);
    expect(performance.now() - since).toBeLessThan(5000);
  });

  it.each(['0.5', '0'])(
    'one that takes longer than MEDIATOR_STOP_SECONDS=%s is cut, and the exit code is 0',
    async (stop) => {
      await start({ MEDIATOR_STOP_SECONDS: stop });
      const cut = (await beginUpload()).answer.then(
        () => 'answered',
        () => 'cut',
      );
      const since = performance.now();
      server.child.kill('SIGTERM');
      expect(await cut).toBe('cut');
      expect(performance.now() - since).toBeGreaterThanOrEqual(Number(stop) * 1000);
      expect(await server.exited).toBe(0);
      expect(await database.sql('SELECT FROM blobs WHERE published_at IS NOT NULL AND size < 20')).toEqual([]);
    },
  );
});
