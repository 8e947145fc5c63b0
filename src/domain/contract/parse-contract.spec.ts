import { describe, expect, it } from '@jest/globals';
import { quickest } from '../quickest.fixture.js';
import { acquire, agent, ask, contractOf, run } from './broken/broken-contract.fixture.js';
import type { Fault } from '../json/fault-list.js';
import { jsonOf, parseValue } from './json-of.fixture.js';
import { parseContract } from './parse-contract.js';
import { EVERYTHING, EXAMPLE } from './valid-contract.fixture.js';

const faultsOf = (contract: unknown): Fault[] => {
  const parsed = parseValue(contract);
  return parsed.ok ? [] : parsed.faults;
};
const pointersOf = (contract: unknown): string[] => faultsOf(contract).map((fault) => fault.pointer);
const loop = { back_to: 's', max: 2, until: { exit_code: 0 } };
const fork = run('s', { out: ['o'], dispatch: { from: 'o', to: ['x', 'y'] } });

describe('a valid contract', () => {
  const valid: [string, unknown][] = [
    ['the example of the description', EXAMPLE],
    ['one with every field', EVERYTHING],
    ['the smallest', contractOf([run('s')])],
    ['an empty agent', contractOf([agent('s')])],
    [
      'empty lists',
      contractOf([run('s', { needs: [], in: [], out: [], env: [], release: [], schema: {} })], { success_when: [] }),
    ],
    ['500 steps', contractOf(Array.from({ length: 500 }, (_, n) => run(`s${n}`)))],
    [
      '64 roles',
      {
        ...contractOf([run('s', { uses: 'r63' })]),
        requires: Array.from({ length: 64 }, (_, n) => ({ as: `r${n}`, capability: 'c' })),
      },
    ],
    [
      'a step and a role called __proto__',
      { requires: [{ as: '__proto__', capability: 'c' }], steps: [run('__proto__', { uses: '__proto__' })] },
    ],
    ['an output called constructor', contractOf([run('s', { out: ['constructor'], schema: { constructor: {} } })])],
    [
      '200 characters beyond the first plane',
      contractOf([run('s')], { work: { system: '😀'.repeat(200), change_id: 'x' } }),
    ],
    ['a key __proto__ inside work', contractOf([run('s')], { work: JSON.parse('{"__proto__":{"a":1}}') })],
    ['a question that waits for ever for anybody', contractOf([ask('q')])],
    ['a loop around one step', contractOf([run('s', { loop })])],
    ['loops one after another', contractOf([run('s', { loop }), run('t', { loop: { ...loop, back_to: 't' } })])],
    ['a dispatch inside a loop', contractOf([fork, run('x'), run('y', { loop })])],
    [
      'a choice that needs another choice and a third step',
      contractOf([run('r'), fork, run('x'), run('y', { needs: ['x', 'r'] })]),
    ],
    [
      'a choice an earlier branch may have skipped',
      contractOf([fork, run('x', { out: ['o'], dispatch: { from: 'o', to: ['y', 'z'] } }), run('y'), run('z')]),
    ],
    [
      'a role released on each of two branches',
      contractOf(
        [
          run('r'),
          fork,
          run('x', { needs: ['s'], uses: 'b', release: ['a'] }),
          run('y', { needs: ['s'], uses: 'b', release: ['a'] }),
        ],
        {
          requires: [
            { as: 'a', capability: 'c' },
            { as: 'b', capability: 'c' },
          ],
        },
      ),
    ],
    [
      'the same output promised twice',
      contractOf([run('s', { out: ['o'] }), run('t', { out: ['o'] }), run('u', { in: ['o'] })]),
    ],
    [
      'a choice read from an output with dots',
      contractOf([run('s', { out: ['a', 'a.b'], dispatch: { from: 'a.b.c', to: ['x', 'y'] } }), run('x'), run('y')]),
    ],
  ];

  it.each(valid)('%s', (_name, contract) => {
    const before = JSON.stringify(contract);
    expect(parseValue(contract)).toEqual({ ok: true, contract });
    expect(JSON.stringify(contract)).toBe(before);
  });

  it('is handed on as it came, not copied', () => {
    const document = jsonOf(EXAMPLE);
    const parsed = parseContract(document);
    expect(parsed.ok && parsed.contract).toBe(document.value);
  });
});

describe('a contract with several faults', () => {
  it('has all of them listed', () => {
    const contract = {
      version: 3,
      requires: [{ as: 'a', capability: 'Build' }],
      steps: [
        run('s', { timeout_seconds: 0, shell: true }),
        run('t', { uses: 'z', needs: ['s', 'u'], out: ['_x'] }),
        { id: 'u', ask: { prompt: 1 }, uses: 'a' },
      ],
      success_when: [{ step: 's', exit_code: 1 }, { step: 'v' }],
    };
    expect(pointersOf(contract).sort()).toEqual([
      '/requires/0/capability',
      '/steps/0/shell',
      '/steps/0/timeout_seconds',
      '/steps/1/needs/1',
      '/steps/1/out/0',
      '/steps/1/uses',
      '/steps/2/ask/prompt',
      '/steps/2/out',
      '/steps/2/schema',
      '/steps/2/uses',
      '/success_when/0/exit_code',
      '/success_when/1',
      '/success_when/1/step',
      '/version',
    ]);
  });

  it('does not hear of what only follows from another fault', () => {
    // Without an id that could be read, "t" may be the step that is meant; with needs that could not, anything may be an ancestor.
    expect(pointersOf(contractOf([run('s'), { ...run('t'), id: 7 }, run('u', { needs: ['t'] })]))).toEqual([
      '/steps/1/id',
    ]);
    const steps = [run('s', { out: ['o'] }), run('t', { needs: ['x'] }), run('u', { in: ['o'], release: ['a'] })];
    expect(pointersOf(contractOf(steps))).toEqual(['/steps/1/needs/0']);
    expect(pointersOf({ requires: 'a', steps: [run('s')] })).toEqual(['/requires']);
    expect(pointersOf(contractOf([run('s', { out: 'o' }), run('t', { in: ['o'] })]))).toEqual(['/steps/0/out']);
    const misspelt = [acquire('get', { acquired: 'yse' }), run('no', {}), run('yes', { uses: 'b' })];
    expect(pointersOf(contractOf(misspelt))).toEqual(['/steps/0/acquire/acquired']);
  });

  it('is told so where there are more than can be listed', () => {
    const faults = faultsOf(contractOf(Array.from({ length: 500 }, () => ({ id: 1, run: 2 }))));
    expect(faults).toHaveLength(100);
    expect(faults.at(-1)).toEqual({ pointer: '', detail: expect.stringMatching(/more faults than the 99 listed/) });
  });

  it('gets an answer of bounded size', () => {
    const agentOf = { ['k'.repeat(200_000)]: Array.from({ length: 1000 }, () => '\0') };
    const faults = faultsOf(contractOf([{ id: 's', uses: 'a', agent: agentOf }]));
    expect(Buffer.byteLength(JSON.stringify(faults))).toBeLessThan(48 * 1024);
    expect(faults[0]).toEqual({ pointer: '/steps/0/agent', detail: expect.stringMatching(/^Below here/) });
  });

  it('sees only well-formed text, shortened', () => {
    const [fault] = faultsOf(contractOf([run('s', { needs: ['😀'.repeat(1000)] })]));
    expect(fault!.detail.length).toBeLessThan(300);
    expect(fault!.detail).not.toMatch(/\p{Surrogate}/u);
  });
});

describe('what is no contract at all', () => {
  const withWork = (json: string): string =>
    JSON.stringify(contractOf([run('s')], { work: { n: 0 } })).replace('{"n":0}', json);

  it.each<[string, string, string]>([
    ['null', 'null', ''],
    ['a number beyond a double', withWork('{"n":1e999}'), '/work/n'],
    [
      'a count that a double does not hold',
      withWork('{}').replace('"as":', '"count":9007199254740993,"as":'),
      '/requires/0/count',
    ],
    [
      '100,000 arrays in each other',
      withWork(`{"n":${'['.repeat(100_000)}${']'.repeat(100_000)}}`),
      `/work/n${'/0'.repeat(98)}`,
    ],
    ['more than 256 KiB', withWork(`{"n":"${'x'.repeat(256 * 1024)}"}`), ''],
  ])('%s has one fault', (_name, text, pointer) => {
    const parsed = parseContract(jsonOf(undefined, text));
    expect(parsed).toEqual({ ok: false, faults: [{ pointer, detail: expect.any(String) }] });
  });
});

describe('at the limits', () => {
  const ids = Array.from({ length: 500 }, (_, n) => `s${n}`);
  const contracts: [string, unknown][] = [
    ['needs', contractOf(ids.map((id, n) => run(id, { needs: ids.slice(Math.max(0, n - 60), n) })))],
    ['release', contractOf(ids.map((id) => run(id, { release: Array.from({ length: 60 }, () => 'a') })))],
    [
      'dispatch',
      contractOf(ids.map((id, n) => run(id, { out: ['o'], dispatch: { from: 'o', to: ids.slice(n + 1, n + 50) } }))),
    ],
    [
      'in',
      contractOf(ids.map((id, n) => run(id, { out: [`o${n}`], in: Array.from({ length: 50 }, (_, m) => `o${m}`) }))),
    ],
    [
      'unknown keys',
      contractOf([run('s', Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`k${n}`, 1])))]),
    ],
    [
      'conditions',
      contractOf([run('s', { out: ['o'] })], {
        success_when: Array.from({ length: 5_000 }, () => ({ step: 's', produced: ['o'] })),
      }),
    ],
    [
      'equal schemas',
      contractOf(
        ids.map((id) =>
          run(id, { out: ['o'], schema: { o: { type: 'object', properties: { ok: { type: 'boolean' } } } } }),
        ),
      ),
    ],
  ];

  it.each(contracts)('%s take no time to speak of', (_name, contract) => {
    parseValue(EXAMPLE); // The first schema compiles the meta-schema.
    // Measured: 10 to 80 ms, most of it before the code is warm.
    expect(quickest(() => parseValue(contract))).toBeLessThan(500);
  });
});
