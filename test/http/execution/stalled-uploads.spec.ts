import { describe, expect, it } from '@jest/globals';
import { R } from '../../support/contracts.js';
import { eventually } from '../../support/eventually.js';
import { startTestMediator } from '../../support/mediator.js';
import { blobPath, openUpload, upload } from '../../support/uploads.js';

describe('ten callers who stall, with two connections to the database', () => {
  it('take none of them: other requests and another upload go on', async () => {
    const server = await startTestMediator({ env: { MEDIATOR_DB_POOL_SIZE: '2' } });
    try {
      const n1 = server.node('n1', [{ role: 'x' }]);
      await n1.advertise();
      await server.send('POST', '/v1/runs', { body: R('x', { run_id: 'stalled' }) });
      const claim = (await n1.claim()).body;
      const stalled = Array.from({ length: 10 }, (_, index) => {
        const open = openUpload(server.url + blobPath(claim, `out-${index}`), { 'mediator-lease': claim.lease.nonce });
        open.send(Buffer.alloc(300_000));
        return open;
      });
      await eventually('each has a chunk stored', async () => {
        const rows = await server.database.sql('SELECT DISTINCT upload_id FROM blob_chunks');
        return rows.length === 10;
      });
      expect((await upload(server, claim, 'whole', Buffer.alloc(1_000_000))).status).toBe(204);
      expect((await server.send('POST', '/v1/runs', { body: R('x', { run_id: 'waits' }) })).status).toBe(202);
      expect((await n1.advertise()).status).toBe(200);
      expect(
        await server.database.sql(
          "SELECT state FROM pg_stat_activity WHERE application_name = 'mediator' AND datname = current_database() AND state <> 'idle'",
        ),
      ).toEqual([]);
      for (const open of stalled) open.end();
      const answers = await Promise.all(stalled.map((open) => open.answer));
      expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(204));
      expect(await server.violations()).toEqual([]);
    } finally {
      await server.close();
    }
  });
});
