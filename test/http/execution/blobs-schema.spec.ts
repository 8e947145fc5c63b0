import { createHash } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { R, step } from '../../support/contracts.js';
import { eventually } from '../../support/eventually.js';
import { startTestMediator, type TestMediator } from '../../support/mediator.js';
import type { PlayedClaim, PlayedNode } from '../../support/played-node.js';
import { expectProblem } from '../../support/problem.js';
import { everything } from '../../support/stored.js';
import { blobPath, openUpload, upload } from '../../support/uploads.js';

describe('the upload of an output that has a schema', () => {
  let server: TestMediator;
  let n1: PlayedNode;
  beforeAll(async () => {
    server = await startTestMediator();
    n1 = server.node('n1', [{ role: 'x' }]);
    await n1.advertise();
  });
  afterEach(async () => {
    const running = await server.database.sql<{ run_id: string }>("SELECT run_id FROM runs WHERE state = 'RUNNING'");
    for (const { run_id } of running) await server.send('POST', `/v1/runs/${run_id}/cancel`);
    expect(await server.violations()).toEqual([]);
    expect(await unpublished()).toEqual([]);
  });
  afterAll(() => server.close());

  const begin = async (runId: string, more: Record<string, unknown>): Promise<PlayedClaim> => {
    await server.send('POST', '/v1/runs', { body: R('x', { run_id: runId, steps: [step('only', 'x', more)] }) });
    return (await n1.claim()).body;
  };
  const unpublished = (): Promise<object[]> =>
    server.database.sql('SELECT upload_id FROM blobs WHERE published_at IS NULL');

  const schema = {
    verdict: {
      type: 'object',
      required: ['ok'],
      properties: { ok: { type: 'boolean' } },
      additionalProperties: false,
    },
  };

  it.each([
    ['a value that does not fit', '{"ok":"yes"}', '/ok', /boolean/],
    ['a member too many', '{"ok":true,"more":1}', '', /additional/],
    ['no JSON', '{"ok":', '', /JSON/],
    ['nothing at all', undefined, '', /JSON/],
    ['no UTF-8', Buffer.from('7b226f6b223a22ff227d', 'hex'), '', /UTF-8/],
    ['a byte order mark', '\ufeff{"ok":true}', '', /JSON/],
  ])(
    '%s is 422 with its pointer, whatever the media type, and nothing is stored',
    async (_what, body, pointer, says) => {
      const claim = await begin(`schema-${_what.replaceAll(' ', '-')}`, { out: ['verdict'], schema });
      const stored = await everything(server.database);
      for (const type of [undefined, 'application/json', 'image/png']) {
        const problem = expectProblem(
          await upload(server, claim, 'verdict', body, type === undefined ? {} : { type }),
          422,
          'schema_violation',
        );
        expect(problem.errors).toEqual([{ pointer, detail: expect.stringMatching(says) }]);
      }
      expect(await everything(server.database)).toEqual(stored);
    },
  );

  it('what fits is stored as it came, in any number at once; other outputs are not judged', async () => {
    const claim = await begin('fits', { out: ['verdict', 'rest'], schema });
    const text = ` { "ok" : true }${' '.repeat(500_000)}`;
    const answers = await Promise.all([
      upload(server, claim, 'verdict', text),
      upload(server, claim, 'verdict', '{"ok":1}'),
      upload(server, claim, 'rest', 'no JSON'),
      upload(server, claim, 'unpromised', 'no JSON'),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([204, 422, 204, 204]);
    const [kept] = await server.database.sql<{ bytes: Buffer }>(
      "SELECT bytes FROM blobs JOIN blob_chunks USING (upload_id) WHERE run_id = 'fits' AND name = 'verdict' ORDER BY at",
    );
    expect(text.startsWith(String(kept!.bytes))).toBe(true);
    const [blob] = await server.database.sql(
      "SELECT size, sha256 FROM blobs WHERE run_id = 'fits' AND name = 'verdict'",
    );
    expect(blob).toEqual({ size: String(text.length), sha256: createHash('sha256').update(text).digest('hex') });
  });

  it('who has lost the step meanwhile hears that first', async () => {
    const claim = await begin('lost', { out: ['verdict'], schema });
    const headers = { 'mediator-lease': claim.lease.nonce };
    const open = openUpload(server.url + blobPath(claim, 'verdict'), headers);
    await eventually('it has begun', async () => (await unpublished()).length === 1);
    await server.send('POST', '/v1/runs/lost/cancel');
    open.send('no JSON');
    open.end();
    expect(await open.answer).toMatchObject({ status: 410, code: 'run_over' });
  });
});
