import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Dice } from '../../src/domain/steps/dice.fixture.js';
import { operationOf } from '../support/documented-headers.js';
import { startTestMediator, type TestMediator } from '../support/mediator.js';
import { tell, tries } from '../support/storm.js';
import { Coverage } from './fuzz/coverage.js';
import { undocumented } from './fuzz/documented.js';
import { curlOf, type FuzzRequest } from './fuzz/fuzz-request.js';
import { hostileFaults, speakHostile } from './fuzz/hostile-bytes.js';
import { mutateRequest } from './fuzz/mutate-request.js';
import { type Plan, plansOf } from './fuzz/plans.js';
import { Pool } from './fuzz/pool.js';
import { Sender } from './fuzz/send-request.js';
import { isCrowded, validRequest } from './fuzz/valid-request.js';

/** The same in every `npm test`, another in every storm; FUZZ_SEED chooses one. */
const SEED = Number(process.env.FUZZ_SEED ?? tries(4711, Date.now() % 2 ** 31));
const REQUESTS = tries(2_000, 20_000);
const HOSTILE = tries(150, 2_000);
const AT_ONCE = 8;
/** Where there are no tokens everybody is let in: see test/storm/callers.spec.ts. */
const WITH_TOKENS = new Set([401, 403, 429]);
/** What makes runs and moves them on. */
const MOVERS = ['submitRun', 'advertiseNode', 'claimStep', 'appendLog', 'uploadOutput'];
const MORE_ROUNDS = 20;

jest.setTimeout(tries(300_000, 1_800_000));

describe(`requests made of openapi.json, seed ${SEED}`, () => {
  let server: TestMediator;
  const pool = new Pool();
  const coverage = new Coverage();
  const faults: string[] = [];
  let sent = 0;

  beforeAll(async () => {
    const env = {
      MEDIATOR_MAX_LEASES_PER_RUN: '4',
      MEDIATOR_MAX_BLOB_BYTES: '1000000',
      MEDIATOR_MAX_LOG_BYTES: '100000',
    };
    server = await startTestMediator({ env });
  });
  afterAll(() => server.close());

  function requestOf(plan: Plan, dice: Dice): FuzzRequest {
    const wanted = plan.operationId === 'submitRun' && isCrowded(pool) ? 'cancelRun' : plan.operationId;
    const request = validRequest(wanted === plan.operationId ? plan : cancelLike(plan), pool, dice);
    for (let left = dice.of([0, 0, 0, 1, 1, 2]); left > 0; left--) mutateRequest(request, dice);
    return request;
  }

  const cancels: Plan[] = plansOf(SEED, 500).filter(({ operationId }) => operationId === 'cancelRun');
  const cancelLike = ({ rolls }: Plan): Plan => ({ ...cancels[0]!, rolls });

  async function send(request: FuzzRequest, sender: Sender): Promise<void> {
    let wrong: string[];
    let body = '';
    try {
      const answer = await sender.send(request);
      request.operationId = operationOf(request);
      coverage.add(request.operationId, answer.status);
      wrong = undocumented(request, answer);
      body = answer.body.toString().slice(0, 1_000);
      pool.harvest(request, answer);
    } catch (error) {
      wrong = [(error as Error).message];
    }
    if (wrong.length === 0) return;
    const did = request.mutations.join(', ') || 'as it was valid';
    faults.push([wrong.join('; '), did, curlOf(server.url, request).slice(0, 4_000), body].join('\n  '));
  }

  async function sendAll(plans: Plan[]): Promise<void> {
    const sender = new Sender(server.url);
    const queue = plans.values();
    const sendThem = async (): Promise<void> => {
      for (const plan of queue) await send(requestOf(plan, new Dice(plan.rolls)), sender);
    };
    try {
      await Promise.all(Array.from({ length: AT_ONCE }, sendThem));
    } finally {
      sender.close();
    }
    sent += plans.length;
  }

  it('are answered as it says, whatever is wrong with them', async () => {
    await sendAll(plansOf(SEED, REQUESTS));
    expect(faults.slice(0, 20)).toEqual([]);
  });

  it('reach every answer that is no refusal', async () => {
    const missing = (): string[] => coverage.missing((status) => status < 400);
    // A few thousand may miss what takes a run at just the right moment: more of what leads there, until it is met.
    for (let round = 1; missing().length > 0 && round <= MORE_ROUNDS; round++) {
      // A node is forgotten when it is gone.
      await server.database.sql("UPDATE nodes SET expires_at = clock_timestamp() WHERE node_id LIKE 'z%'");
      const wanted = new Set([...MOVERS, ...missing().map((answer) => answer.split(' ')[0])]);
      await sendAll(plansOf(SEED + round, 1_000).filter(({ operationId }) => wanted.has(operationId)));
    }
    tell({
      what: 'requests: valid, nearly valid and broken ones',
      times: sent,
      checked: sent,
      of: 'answers',
      lost: faults.length,
    });
    expect(missing()).toEqual([]);
    expect(faults.slice(0, 20)).toEqual([]);
  });

  it('meet refusals of most kinds', () => {
    const refusals = coverage.missing((status) => status >= 400 && status < 500 && !WITH_TOKENS.has(status));
    // Each of the fifty is more than chance gives in a few thousand requests, and a few take a run at just the right moment.
    expect(refusals.length > tries(25, 4) ? refusals : []).toEqual([]);
  });

  it('leave the promises whole', async () => {
    expect(await server.violations()).toEqual([]);
    expect(await server.send('GET', '/readyz')).toMatchObject({ status: 200 });
  });
});

describe(`bytes that are no requests, seed ${SEED}`, () => {
  let server: TestMediator;
  beforeAll(async () => void (server = await startTestMediator()));
  afterAll(() => server.close());

  it('are refused, and the connection is closed', async () => {
    const rolls = plansOf(SEED + 1, HOSTILE).map((plan) => plan.rolls);
    const faults: string[] = [];
    let answers = 0;
    const queue = rolls.values();
    const speakAll = async (): Promise<void> => {
      for (const roll of queue) {
        const spoken = await speakHostile(server.url, new Dice(roll));
        answers += spoken.answers.length;
        const wrong = hostileFaults(spoken);
        if (wrong.length > 0) faults.push(`${wrong.join('; ')} to ${JSON.stringify(spoken.sent.slice(0, 300))}`);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, speakAll));
    tell({ what: 'bytes that are no request', times: HOSTILE, checked: answers, of: 'answers', lost: faults.length });
    expect(faults.slice(0, 20)).toEqual([]);
    expect(answers).toBeGreaterThan(HOSTILE / 2);
    expect(await server.violations()).toEqual([]);
  });
});
