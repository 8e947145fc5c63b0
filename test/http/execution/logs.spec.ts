import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { R, step } from '../../support/contracts.js';
import { eventually } from '../../support/eventually.js';
import type { TestMediator } from '../../support/mediator.js';
import type { PlayedClaim } from '../../support/played-node.js';
import { hold } from '../../support/failpoints.js';
import { expectProblem } from '../../support/problem.js';
import { everything } from '../../support/stored.js';
import { openUpload, writeLog } from '../../support/uploads.js';
import { cancelRunning } from '../../support/queue.js';
import { serverSuite } from '../../support/server-suite.js';

const LIMIT = 1000;
const CUT = '\n[the log is cut here: it is larger than 1000 bytes]\n';

describe('the log of a step', () => {
  const server = serverSuite({ tidy: cancelRunning });
  const n1 = server.liveNode('n1', { role: 'x' });
  const begin = async (
    runId: string,
    more: Record<string, unknown> = {},
    at: TestMediator = server,
  ): Promise<PlayedClaim> => {
    const body = R('x', { run_id: runId, steps: [step('only', 'x', more)] });
    expect((await at.send('POST', '/v1/runs', { body })).status).toBe(201);
    return (await at.send('POST', '/v1/nodes/n1/claim?wait=0')).body;
  };
  /** The text of a log, which its chunks must hold without gap or overlap. */
  const text = async (runId: string, name = 'step', attempt = 1, at: TestMediator = server): Promise<string> => {
    const key = [runId, attempt, name];
    const which = 'run_id = $1 AND seq = 1 AND attempt = $2 AND name = $3';
    const chunks = await at.database.sql<{ at: string; bytes: Buffer }>(
      `SELECT at, bytes FROM log_chunks WHERE ${which} ORDER BY at`,
      key,
    );
    let end = 0;
    for (const chunk of chunks) {
      expect(Number(chunk.at)).toBe(end);
      end += chunk.bytes.length;
    }
    const [log] = await at.database.sql<{ size: string }>(`SELECT size FROM logs WHERE ${which}`, key);
    expect(Number(log?.size)).toBe(end);
    return Buffer.concat(chunks.map(({ bytes }) => bytes)).toString();
  };
  const size = ({ status, headers }: { status: number; headers: Headers }): [number, string | null] => [
    status,
    headers.get('upload-offset'),
  ];
  const openLog = (claim: PlayedClaim, query = '') =>
    openUpload(`${server.url}/v1/runs/${claim.run_id}/steps/1/log?${query}`, { 'mediator-lease': claim.lease.nonce });

  it('grows at its end, and answers its size', async () => {
    const claim = await begin('grows');
    expect(size(await writeLog(server, claim, undefined))).toEqual([204, '0']);
    expect(size(await writeLog(server, claim, 'one\n'))).toEqual([204, '4']);
    expect(size(await writeLog(server, claim, 'zwei ä\n', 'name=step'))).toEqual([204, '12']);
    expect(size(await writeLog(server, claim, 'other', 'name=serial.txt'))).toEqual([204, '5']);
    expect(size(await writeLog(server, claim, undefined))).toEqual([204, '12']);
    expect(await text('grows')).toBe('one\nzwei ä\n');
    expect(await text('grows', 'serial.txt')).toBe('other');
  });

  it('takes a body of any length and type, and does not mind the limit of others', async () => {
    const claim = await begin('long');
    const lines = Array.from({ length: 200_000 }, (_, index) => `line ${index}\n`).join('');
    expect(size(await writeLog(server, claim, lines))).toEqual([204, String(lines.length)]);
    expect((await text('long')) === lines).toBe(true);
    const chunks = await server.database.sql("SELECT FROM log_chunks WHERE run_id = 'long'");
    expect(chunks.length).toBeLessThanOrEqual(Math.ceil(lines.length / (256 * 1024)));
  });

  it('at an offset it takes what is new, however often it is sent', async () => {
    const claim = await begin('offsets');
    for (let time = 1; time <= 2; time++) {
      expect(size(await writeLog(server, claim, 'abcdef', 'offset=0'))).toEqual([204, '6']);
    }
    expect(size(await writeLog(server, claim, 'efgh', 'offset=4'))).toEqual([204, '8']);
    expect(size(await writeLog(server, claim, 'bc', 'offset=1'))).toEqual([204, '8']);
    expect(size(await writeLog(server, claim, 'ij', 'offset=8'))).toEqual([204, '10']);
    expect(size(await writeLog(server, claim, undefined, 'offset=10'))).toEqual([204, '10']);
    expect(await text('offsets')).toBe('abcdefghij');
  });

  it('beyond its end it is 409 offset_gap, which says where the end is', async () => {
    const claim = await begin('gap');
    expectProblem(await writeLog(server, claim, 'x', 'offset=1'), 409, 'offset_gap');
    await writeLog(server, claim, 'abc');
    const refused = await writeLog(server, claim, 'x', 'offset=4');
    expect(expectProblem(refused, 409, 'offset_gap').detail).toContain('3 bytes');
    expect(refused.headers.get('upload-offset')).toBe('3');
    expectProblem(await writeLog(server, claim, undefined, 'offset=4'), 409, 'offset_gap');
    expect(await text('gap')).toBe('abc');
  });

  it('appends at once do not mix: each stands whole, and a repeated one once', async () => {
    const claim = await begin('at-once');
    await writeLog(server, claim, 'begin\n');
    const lines = Array.from({ length: 20 }, (_, index) => `${String(index).repeat(2000)}\n`);
    const answers = await Promise.all([
      ...lines.map((line) => writeLog(server, claim, line)),
      ...lines.map(() => writeLog(server, claim, 'begin\n', 'offset=0')),
    ]);
    expect(answers.map(({ status }) => status)).toEqual(Array(40).fill(204));
    const [first, ...rest] = (await text('at-once')).split('\n').map((line) => `${line}\n`);
    expect(first).toBe('begin\n');
    expect(rest.slice(0, -1).sort()).toEqual([...lines].sort());
  });

  it('two who begin the same log at once', async () => {
    const claim = await begin('both');
    const names = Array.from({ length: 10 }, (_, index) => `log-${index}`);
    const writes = names.flatMap((name) => [1, 2].map(() => writeLog(server, claim, 'x', `name=${name}`)));
    expect((await Promise.all(writes)).map(({ status }) => status)).toEqual(Array(20).fill(204));
    for (const name of names) expect(await text('both', name)).toBe('xx');
  });

  it('what is said is there while the caller still speaks, and stays where the connection breaks', async () => {
    const claim = await begin('speaks');
    const open = openLog(claim);
    open.send('first\n');
    await eventually('the first line is there', async () => (await text('speaks')) === 'first\n');
    open.send('second\n');
    await eventually('the second line is there', async () => (await text('speaks')) === 'first\nsecond\n');
    open.breakOff();
    expect(size(await writeLog(server, claim, 'second\nthird\n', 'offset=6'))).toEqual([204, '19']);
    expect(await text('speaks')).toBe('first\nsecond\nthird\n');
  });

  it('is kept apart by attempt', async () => {
    const loop = { back_to: 'only', max: 2, until: { exit_code: 0 } };
    const first = await begin('attempts', { allow_failure: true, loop });
    await writeLog(server, first, 'first');
    await n1.report(first, { exit_code: 1 });
    const second = (await n1.claim()).body;
    expectProblem(await writeLog(server, second, 'late', 'attempt=1'), 409, 'not_claimed');
    expect(size(await writeLog(server, second, 'second', 'attempt=2&offset=0'))).toEqual([204, '6']);
    expect([await text('attempts'), await text('attempts', 'step', 2)]).toEqual(['first', 'second']);
  });

  describe('over the limit', () => {
    const small = serverSuite({ env: { MEDIATOR_MAX_LOG_BYTES: String(LIMIT) } });
    beforeAll(async () => {
      await small.node('n1', [{ role: 'x' }]).advertise();
    });
    afterEach(async () => {
      for (const runId of ['cut', 'cut-at-once', 'cut-character']) await small.send('POST', `/v1/runs/${runId}/cancel`);
    });
    it('it is cut with a line that says so, and what comes later is taken and dropped', async () => {
      const claim = await begin('cut', {}, small);
      const whole = 'x'.repeat(LIMIT);
      expect(size(await writeLog(small, claim, whole))).toEqual([204, String(LIMIT)]);
      expect(await text('cut', 'step', 1, small)).toBe(whole);
      const end = String(LIMIT + CUT.length);
      expect(size(await writeLog(small, claim, `${whole}y`, 'offset=0'))).toEqual([204, end]);
      for (const query of ['', 'offset=0', 'offset=1001', 'offset=99999']) {
        expect(size(await writeLog(small, claim, 'later', query))).toEqual([204, end]);
      }
      expect(await text('cut', 'step', 1, small)).toBe(whole + CUT);
      expectProblem(await writeLog(small, claim, 'x', '', 'another'), 409, 'stale_lease');
    });

    it('by many at once too, once', async () => {
      const claim = await begin('cut-at-once', {}, small);
      await Promise.all(Array.from({ length: 12 }, () => writeLog(small, claim, 'x'.repeat(150))));
      expect(await text('cut-at-once', 'step', 1, small)).toBe('x'.repeat(LIMIT) + CUT);
    });

    it('not in the middle of a character', async () => {
      const claim = await begin('cut-character', {}, small);
      await writeLog(small, claim, `x${'ä'.repeat(600)}`);
      expect(await text('cut-character', 'step', 1, small)).toBe(`x${'ä'.repeat(499)}${CUT}`);
    });
  });

  describe('is refused', () => {
    it.each([
      ['without a lease', '', ''],
      ['under a name that begins with a dot', 'name=.x', 'n'],
      ['under an empty name', 'name=', 'n'],
      ['under two names', 'name=a&name=b', 'n'],
      ['at an offset below 0', 'offset=-1', 'n'],
      ['at an empty offset', 'offset=', 'n'],
      ['at an offset that is no number', 'offset=0x10', 'n'],
      ['at two offsets', 'offset=1&offset=2', 'n'],
      ['at an offset that no number holds', 'offset=9007199254740993', 'n'],
    ])('%s: 400', async (_what, query, lease) => {
      const answer = await writeLog(server, { run_id: 'nowhere', seq: 1 }, 'x', query, lease);
      expectProblem(answer, 400, 'invalid_request');
    });

    it('C9 where the run or step is not there, over, or not claimed: 404, 410, 409, and nothing is changed', async () => {
      const former = await begin('former');
      await writeLog(server, former, 'while it was mine\n');
      await server.send('POST', '/v1/runs', { body: R('x', { run_id: 'next' }) });
      await server.send('POST', '/v1/runs/former/cancel');
      const next = (await n1.claim()).body;
      const stored = await everything(server.database);
      expectProblem(await writeLog(server, { ...former, run_id: 'nowhere' }, 'x'), 404, 'not_found');
      expectProblem(await writeLog(server, { ...former, seq: 2 }, 'x'), 404, 'not_found');
      expectProblem(await writeLog(server, former, 'x', 'offset=99'), 410, 'run_over');
      expectProblem(await writeLog(server, next, 'x', '', former.lease.nonce), 409, 'stale_lease');
      expectProblem(await writeLog(server, next, 'x', 'attempt=2'), 409, 'not_claimed');
      expect(await everything(server.database)).toEqual(stored);
    });

    it('C9 in the middle, where the step is lost: what came before stays, the rest does not come', async () => {
      const claim = await begin('middle');
      const open = openLog(claim);
      open.send('mine\n');
      await eventually('the first line is there', async () => (await text('middle')) === 'mine\n');
      await server.send('POST', '/v1/runs/middle/cancel');
      open.send('no longer\n');
      open.end();
      expect(await open.answer).toMatchObject({ status: 410, code: 'run_over' });
      expect(await text('middle')).toBe('mine\n');
    });

    it('the end of the run waits for a chunk that is being written', async () => {
      const claim = await begin('ends');
      const writing = hold('append-log.before-commit');
      const written = writeLog(server, claim, 'in time\n');
      await writing.reached;
      const cancelled = server.send('POST', '/v1/runs/ends/cancel');
      writing.letGo();
      expect([(await written).status, (await cancelled).body.state]).toEqual([204, 'CANCELLED']);
      expect(await text('ends')).toBe('in time\n');
    });
  });
});
