import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Contract } from '../contract/contract.js';
import { parseValue } from '../contract/json-of.fixture.js';
import { contracts } from './contract-arbitrary.fixture.js';

const FEATURES: Record<string, (contract: Contract) => boolean> = {
  ask: ({ steps }) => steps.some((step) => step.ask),
  acquire: ({ steps }) => steps.some((step) => step.acquire),
  dispatch: ({ steps }) => steps.some((step) => step.dispatch),
  loop: ({ steps }) => steps.some((step) => step.loop),
  release: ({ steps }) => steps.some((step) => step.release),
  condition: ({ success_when }) => success_when !== undefined,
  'acquired role': ({ steps }) => steps.some((step) => step.uses?.startsWith('r')),
  input: ({ steps }) => steps.some((step) => step.in),
  'dispatch in a loop': ({ steps }) => inLoop(steps, (step) => step.dispatch !== undefined),
  'ask in a loop': ({ steps }) => inLoop(steps, (step) => step.ask !== undefined),
  'acquire in a loop': ({ steps }) => inLoop(steps, (step) => step.acquire !== undefined),
};

function inLoop(steps: Contract['steps'], is: (step: Contract['steps'][number]) => boolean): boolean {
  return steps.some(({ loop }, last) => {
    const first = steps.findIndex((step) => step.id === loop?.back_to);
    return loop !== undefined && steps.slice(first, last + 1).some(is);
  });
}

describe('the contracts that properties are tried on', () => {
  it('are valid', () => {
    fc.assert(
      fc.property(contracts(), (contract) => expect(parseValue(contract)).toEqual({ ok: true, contract })),
      { numRuns: 300 },
    );
  });

  it('are interesting: each feature is in many of them, and most have several', () => {
    const drawn = fc.sample(contracts(), { numRuns: 1000, seed: 1 });
    const shares = Object.entries(FEATURES).map(([name, has]) => ({ name, share: drawn.filter(has).length / 1000 }));
    expect(shares.filter(({ share }) => share < 0.1)).toEqual([]);
    const several = drawn.filter((one) => Object.values(FEATURES).filter((has) => has(one)).length >= 4);
    expect(several.length).toBeGreaterThan(700);
  });
});
