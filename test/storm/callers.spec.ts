import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Dice } from '../../src/domain/steps/dice.fixture.js';
import { startTestMediator, type TestMediator } from '../support/mediator.js';
import { tell, tries } from '../support/storm.js';
import { bearer, TokensFile } from '../support/tokens.js';
import { undocumented } from './fuzz/documented.js';
import { plansOf } from './fuzz/plans.js';
import { Pool } from './fuzz/pool.js';
import { Sender } from './fuzz/send-request.js';
import { validRequest } from './fuzz/valid-request.js';

const SEED = Number(process.env.FUZZ_SEED ?? tries(4711, Date.now() % 2 ** 31));
const REQUESTS = tries(1_500, 5_000);
const AT_ONCE = 8;

jest.setTimeout(tries(120_000, 900_000));

describe(`requests of callers of every kind, seed ${SEED}`, () => {
  const tokens = new TokensFile();
  const speakers = {
    operator: bearer(tokens.add({ name: 'op', role: 'operator' })),
    submitter: bearer(tokens.add({ name: 'ann', role: 'submitter' })),
    node: bearer(tokens.add({ name: 'rpi-7', role: 'node', node_id: 'rpi-7' })),
    'nobody known': bearer('mdt_nobody'),
    'nobody at all': {},
    'one with another scheme': { authorization: 'Basic YTpi' },
  };
  let server: TestMediator;
  beforeAll(async () => {
    const env = { MEDIATOR_TOKENS_FILE: tokens.path, MEDIATOR_RATE_LIMIT_PER_SECOND: '300' };
    server = await startTestMediator({ env });
  });
  afterAll(async () => {
    await server.close();
    tokens.remove();
  });

  it('are answered as the document says, and who is not known gets no further', async () => {
    const sender = new Sender(server.url);
    const pool = new Pool();
    const faults: string[] = [];
    const met = new Set<number>();
    const plans = plansOf(SEED, REQUESTS).values();
    const sendThem = async (): Promise<void> => {
      for (const plan of plans) {
        const dice = new Dice(plan.rolls);
        const request = validRequest(plan, pool, dice);
        const who = dice.of(Object.keys(speakers) as (keyof typeof speakers)[]);
        Object.assign(request.headers, speakers[who]);
        const answer = await sender.send(request);
        met.add(answer.status);
        const wrong = undocumented(request, answer);
        const isKnown = ['operator', 'submitter', 'node'].includes(who);
        if (!isKnown && request.path.startsWith('/v1') && ![401, 429].includes(answer.status))
          wrong.push(`${who} was let in`);
        if (wrong.length > 0)
          faults.push(`${who}: ${request.method} ${request.path}: ${answer.status}: ${wrong.join('; ')}`);
        else pool.harvest(request, answer);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, sendThem));
    sender.close();
    tell({
      what: 'requests of every role, and of strangers',
      times: REQUESTS,
      checked: REQUESTS,
      of: 'answers',
      lost: faults.length,
    });
    expect(faults.slice(0, 20)).toEqual([]);
    expect([...met]).toEqual(expect.arrayContaining([200, 201, 401, 403]));
    expect(await server.database.sql('SELECT * FROM invariants')).toEqual([]);
  });
});
