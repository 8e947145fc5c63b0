import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { BROKEN_CONTRACTS } from '../../src/domain/contract/broken-contracts.fixture.js';
import { jsonOf } from '../../src/domain/contract/json-of.fixture.js';
import { parseContract } from '../../src/domain/contract/parse-contract.js';
import { EVERYTHING, EXAMPLE } from '../../src/domain/contract/valid-contract.fixture.js';
import { contracts } from '../../src/domain/steps/contract-arbitrary.fixture.js';
import { Dice } from '../../src/domain/steps/dice.fixture.js';
import { startTestMediator, type TestMediator } from '../support/mediator.js';
import { tell, tries } from '../support/storm.js';
import { CONTRACTS } from './fuzz/contracts-arbitrary.js';
import { HEAVY_SCHEMAS } from './fuzz/heavy-schemas.js';
import { mutateJson } from './fuzz/mutate-json.js';
import { toText } from './fuzz/odd-values.js';
import { Sender } from './fuzz/send-request.js';

const SEED = Number(process.env.FUZZ_SEED ?? tries(4711, Date.now() % 2 ** 31));
const MOST_BYTES = 256 * 1024;
/** Of the processor, so that a machine that does other things as well is no slow parser. */
const MOST_MS = 1_000;

jest.setTimeout(tries(300_000, 1_800_000));

/** Contracts as texts: valid ones and broken ones, with up to four things changed anywhere in them. */
const TEXTS: fc.Arbitrary<string> = fc
  .record({
    contract: fc.oneof(
      CONTRACTS,
      contracts(),
      fc.constantFrom<unknown>(EXAMPLE, EVERYTHING),
      fc.constantFrom<unknown>(...BROKEN_CONTRACTS.map(({ contract }) => contract)),
    ),
    changes: fc.nat({ max: 4 }),
    rolls: fc.array(fc.nat({ max: 0x7fffffff }), { minLength: 40, maxLength: 40, size: 'max' }),
  })
  .map(({ contract, changes, rolls }) => {
    const dice = new Dice(rolls);
    let text = toText(contract);
    for (let left = changes; left > 0; left--) text = toText(mutateJson(JSON.parse(text), dice));
    return text;
  });

/** What it costs: the least of three times, since the process collects the garbage of other suites in between. */
function cpuMs(act: () => void): number {
  const once = (): number => {
    const before = process.cpuUsage();
    act();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  };
  return Math.min(once(), once(), once());
}

/** Whether a pointer leads to a place of the document, or to one that is missing in a place that is there. */
function leadsSomewhere(pointer: string, document: unknown): boolean {
  const keys = pointer
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
  let at = document;
  for (const [index, key] of keys.entries()) {
    if (typeof at !== 'object' || at === null) return false;
    if (!Object.hasOwn(at, key)) return index === keys.length - 1;
    at = (at as Record<string, unknown>)[key];
  }
  return pointer === '' || pointer.startsWith('/');
}

describe(`a contract that is drawn and changed, seed ${SEED}`, () => {
  it('is judged without an exception, by faults that lead somewhere, and the same way a second time', () => {
    const numRuns = tries(300, 20_000);
    let accepted = 0;
    fc.assert(
      fc.property(TEXTS, (text) => {
        const document: unknown = JSON.parse(text);
        const read = jsonOf(undefined, text);
        const parsed = parseContract(read);
        expect(JSON.stringify(read.value)).toBe(JSON.stringify(document));
        const faults = parsed.ok ? undefined : parsed.faults;
        expect(parseContract(jsonOf(undefined, text))).toEqual(
          faults ? { ok: false, faults } : { ok: true, contract: document },
        );
        if (faults === undefined) accepted++;
        const wrong = faults?.filter(
          ({ pointer, detail }) => !leadsSomewhere(pointer, document) || !/\.$/.test(detail),
        );
        expect(wrong ?? []).toEqual([]);
        expect(faults).not.toEqual([]);
      }),
      { seed: SEED, numRuns },
    );
    expect(accepted).toBeGreaterThan(numRuns / 20);
    tell({
      what: 'contracts, changed at random and parsed',
      times: numRuns,
      checked: numRuns,
      of: 'verdicts',
      lost: 0,
    });
  });
});

describe(`a contract of 256 KiB, seed ${SEED}`, () => {
  /** With the same element again and again, as often as it fits. */
  const filled = (make: (count: number) => object, unit: number): string => toText(make(Math.floor(230_000 / unit)));
  const role = { as: 'a', capability: 'build' };
  const run = { id: 's', uses: 'a', run: ['x'] };

  it.each<[string, string]>([
    ['empty steps', filled((n) => ({ requires: [role], steps: new Array<object>(n).fill({}) }), 3)],
    ['steps of one name', filled((n) => ({ requires: [role], steps: new Array<object>(n).fill(run) }), 40)],
    ['roles', filled((n) => ({ requires: new Array<object>(n).fill(role), steps: [run] }), 34)],
    ['arguments', filled((n) => ({ requires: [role], steps: [{ ...run, run: new Array<string>(n).fill('') }] }), 3)],
    ['unknown keys', filled((n) => ({ ...Object.fromEntries(Array.from({ length: n }, (_, i) => [`k${i}`, 0])) }), 11)],
    ['conditions', filled((n) => ({ requires: [role], steps: [run], success_when: new Array<object>(n).fill({}) }), 3)],
    [
      'needs',
      filled((n) => ({ requires: [role], steps: [run, { ...run, needs: new Array<string>(n).fill('s') }] }), 4),
    ],
    ['outputs', filled((n) => ({ requires: [role], steps: [{ ...run, out: new Array<string>(n).fill('o') }] }), 4)],
    ['nesting', `{"work":${'['.repeat(120_000)}${']'.repeat(120_000)}}`],
    ['keys of one object', `{"work":{${'"a":1,'.repeat(38_000)}"a":1}}`],
    ...HEAVY_SCHEMAS,
  ])('of %s takes less than a second', (_what, text) => {
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(MOST_BYTES);
    expect(cpuMs(() => void parseContract(jsonOf(undefined, text)))).toBeLessThan(MOST_MS);
  });
});

describe(`a contract that is sent, seed ${SEED}`, () => {
  let server: TestMediator;
  const sender = (): Sender => new Sender(server.url);
  beforeAll(async () => {
    server = await startTestMediator();
    await server
      .node(
        'n',
        ['a', 'b', 'c', 'd', 'e', 'f'].map((role) => ({ role })),
      )
      .advertise();
  });
  afterAll(() => server.close());

  it('is refused as invalid by the dry run where it is by the submission, and where it is not, by neither', async () => {
    const texts = fc
      .sample(TEXTS, { seed: SEED, numRuns: tries(60, 2_000) })
      .filter((text) => text.length < MOST_BYTES);
    const connections = sender();
    const post = (path: string, text: string) =>
      connections.send({
        operationId: undefined,
        method: 'POST',
        path,
        headers: { 'content-type': 'application/json' },
        body: Buffer.from(text),
        mutations: [],
      });
    const disagreed: object[] = [];
    const queue = texts.values();
    const sendAll = async (): Promise<void> => {
      for (const text of queue) {
        const [tried, sent] = [await post('/v1/runs/dry-run', text), await post('/v1/runs', text)];
        if (sent.json?.state === 'QUEUED' || sent.json?.state === 'RUNNING') {
          await post(`/v1/runs/${encodeURIComponent(sent.json.run_id)}/cancel`, '{}');
        }
        const [a, b] = [tried, sent].map(({ status, json }) => ({ status, errors: json?.errors }));
        const agree =
          a!.status === 400 || b!.status === 400 ? JSON.stringify(a) === JSON.stringify(b) : b!.status < 500;
        if (!agree || a!.status >= 500) disagreed.push({ text: text.slice(0, 4_000), tried: a, sent: b });
      }
    };
    try {
      await Promise.all(Array.from({ length: 6 }, sendAll));
    } finally {
      connections.close();
    }
    tell({
      what: 'contracts, dry and in earnest',
      times: texts.length,
      checked: texts.length,
      of: 'pairs of answers',
      lost: disagreed.length,
    });
    expect(disagreed).toEqual([]);
    expect(await server.violations()).toEqual([]);
  });
});
