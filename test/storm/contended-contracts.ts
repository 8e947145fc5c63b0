import fc from 'fast-check';
import type { Contract, Requirement, StepSpec } from '../../src/domain/contract/contract.js';
import { parseValue } from '../../src/domain/contract/json-of.fixture.js';
import { contracts } from '../../src/domain/steps/contract-arbitrary.fixture.js';

/** What is drawn beside the contract, and decides how its roles compete for a small fleet. */
interface Terms {
  /** By role: how many nodes, and which. */
  counts: number[];
  wants: number[];
  spread: boolean;
  /** The roles of the contract are three at most. */
  few: boolean;
  /** By step. */
  timed: boolean[];
}

const HALF_HOUR = 1800;

const terms: fc.Arbitrary<Terms> = fc.record({
  counts: fc.array(fc.constantFrom(1, 1, 1, 2), { minLength: 6, maxLength: 6 }),
  wants: fc.array(fc.nat({ max: 39 }), { minLength: 6, maxLength: 6 }),
  spread: fc.constantFrom(false, false, true),
  few: fc.constantFrom(true, true, true, false),
  timed: fc.array(fc.boolean(), { minLength: 16, maxLength: 16 }),
});

/**
 * Contracts of every kind that want what a few nodes have: several roles, more than one node for a role, roles apart from
 * each other, a node by name, and now and then what nobody has. Times are whole half hours.
 */
export function contendedContracts(): fc.Arbitrary<Contract> {
  // Mostly short ones, which come to their end while others wait for what they have.
  const drawn = fc.oneof(...[1, 2, 3, 6].map((maxSteps) => contracts({ maxSteps })));
  return fc.tuple(drawn, terms).map(([contract, more]) => contended(contract, more));
}

function contended(contract: Contract, drawn: Terms): Contract {
  const roleOf = (role: string): string => (drawn.few ? (FEW[role] ?? role) : role);
  const used = new Set(contract.steps.flatMap(({ uses }) => (uses === undefined ? [] : [roleOf(uses)])));
  const declared = contract.requires.filter(({ as }) => used.has(as));
  const requires = (declared.length > 0 ? declared : contract.requires.slice(0, 1)).map((role, at) =>
    wanted(role, drawn, at),
  );
  const known = new Set([
    ...requires.map(({ as }) => as),
    ...contract.steps.flatMap(({ acquire }) => acquire?.want.as ?? []),
  ]);
  const steps = contract.steps.map((step, at): StepSpec => {
    const { release = [], ...kept } = timed(step, drawn.timed[at]!);
    const given = [...new Set(release.map(roleOf))].filter((role) => known.has(role));
    return {
      ...kept,
      ...(step.uses !== undefined && { uses: roleOf(step.uses) }),
      ...(given.length > 0 && { release: given }),
    };
  });
  const made: Contract = { ...contract, requires, steps, ...(drawn.spread && { spread: true }) };
  if (parseValue(made).ok) return made;
  // A role that stands for two is used by more steps, and may be given back too early now.
  return { ...made, steps: steps.map(({ release: _, ...step }) => step) };
}

const FEW: Record<string, string> = { d: 'a', e: 'b', f: 'c' };

function wanted({ as }: Requirement, { counts, wants }: Terms, at: number): Requirement {
  const role = FEW[as] ?? as;
  const want = wants[at]!;
  const count = counts[at]! > 1 ? { count: counts[at]! } : {};
  if (want === 39) return { as, capability: 'board', attrs: { role: 'nobody-has-it' } };
  if (want === 38) return { as, capability: 'board', attrs: { node_id: 'n2' } };
  if (want > 35) return { as, capability: 'board', ...count };
  if (want > 30) return { as, capability: 'board', attrs: { role, fast: 'yes' }, ...count };
  return { as, capability: 'board', attrs: { role }, ...count };
}

function timed(step: StepSpec, isTimed: boolean): StepSpec {
  if (step.acquire) {
    const { want } = step.acquire;
    const role = FEW[want.attrs!.role!] ?? want.attrs!.role!;
    return { ...step, acquire: { ...step.acquire, want: { ...want, attrs: { role } } } };
  }
  if (!isTimed) return step;
  if (step.ask) return { ...step, ask: { ...step.ask, timeout_seconds: 2 * HALF_HOUR } };
  return { ...step, timeout_seconds: HALF_HOUR };
}
