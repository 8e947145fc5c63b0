import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Contract, StepSpec } from './contract.js';
import { needsOf } from './valid-steps.js';
import { parseValue, pathsOf, replaced } from './json-of.fixture.js';
import { EVERYTHING } from './valid-contract.fixture.js';

interface Sketch {
  kind: 'run' | 'agent' | 'ask';
  needs: number[] | undefined;
  out: boolean;
  timeout: number | undefined;
  takes: boolean;
}

const sketch: fc.Arbitrary<Sketch> = fc.record({
  kind: fc.constantFrom('run' as const, 'agent' as const, 'ask' as const),
  needs: fc.option(fc.array(fc.nat({ max: 19 }), { maxLength: 4 }), { nil: undefined }),
  out: fc.boolean(),
  timeout: fc.option(fc.integer({ min: 1, max: 604_800 }), { nil: undefined }),
  takes: fc.boolean(),
});

/** Steps that need any of the earlier ones, and take what the first of these promises. */
const contracts: fc.Arbitrary<Contract> = fc.array(sketch, { minLength: 1, maxLength: 20 }).map((sketches) => ({
  requires: [{ as: 'a', capability: 'build' }],
  steps: sketches.map((one, seq) => stepOf(one, seq, sketches)),
}));

function stepOf({ kind, needs, out, timeout, takes }: Sketch, seq: number, all: Sketch[]): StepSpec {
  const before = needs && [...new Set(needs.filter((need) => need < seq))];
  const step: StepSpec = { id: `s${seq}`, ...(before && { needs: before.map((need) => `s${need}`) }) };
  if (kind === 'ask') {
    return { ...step, ask: { prompt: '?' }, out: [`o${seq}`], schema: { [`o${seq}`]: { type: 'object' } } };
  }
  const first = before === undefined ? seq - 1 : before[0];
  const promised = first !== undefined && first >= 0 && (all[first]!.out || all[first]!.kind === 'ask');
  return {
    ...step,
    uses: 'a',
    ...(kind === 'run' ? { run: ['true'] } : { agent: {} }),
    ...(out && { out: [`o${seq}`] }),
    ...(timeout !== undefined && { timeout_seconds: timeout }),
    ...(takes && promised && { in: [`o${first}`] }),
  };
}

describe('parseContract', () => {
  it('accepts every valid contract', () => {
    fc.assert(fc.property(contracts, (contract) => expect(parseValue(contract)).toEqual({ ok: true, contract })));
  });

  it('never throws, and has faults for what it refuses', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (input) => {
        const parsed = parseValue(input);
        expect(parsed.ok || parsed.faults.length > 0).toBe(true);
      }),
    );
  });

  it('never throws where one value of a contract is replaced by any other, and points at places that are well-formed', () => {
    const paths = pathsOf(EVERYTHING);
    fc.assert(
      fc.property(fc.constantFrom(...paths), fc.jsonValue(), (path, value) => {
        const parsed = parseValue(replaced(EVERYTHING, path, value));
        for (const { pointer, detail } of parsed.ok ? [] : parsed.faults) {
          expect(pointer).toMatch(/^(\/([^~/]|~[01])*)*$/);
          expect(detail).toMatch(/\.$/);
        }
      }),
      { numRuns: 400 },
    );
  });
});

describe('needsOf', () => {
  it('points at earlier steps only', () => {
    fc.assert(
      fc.property(contracts, (contract) => {
        const ids = contract.steps.map((step) => step.id);
        needsOf(contract).forEach((needs, seq) => {
          for (const need of needs) expect(ids.slice(0, seq)).toContain(need);
        });
      }),
    );
  });
});
