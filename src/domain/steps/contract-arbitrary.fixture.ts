import fc from 'fast-check';
import type { Condition, Contract, StepSpec } from '../contract/contract.js';
import { ancestors, type BitSet, normalisedNeeds, skippedWith } from '../contract/graph.js';

/** What is drawn of a step; numbers are taken modulo what there is to choose from, so that a smaller one is simpler. */
interface Sketch {
  kind: 'run' | 'agent' | 'ask' | 'acquire';
  /** How far back. */
  needs: number[] | undefined;
  /** How far ahead: the targets of a dispatch, or the first two those of an acquire. */
  branch: number[] | undefined;
  loop: { back: number; max: number; produced: boolean } | undefined;
  release: boolean;
  role: number;
  outs: number;
  allowFailure: boolean;
  takes: boolean;
  judged: boolean;
}

const option = <T>(arbitrary: fc.Arbitrary<T>, freq: number): fc.Arbitrary<T | undefined> =>
  fc.option(arbitrary, { nil: undefined, freq });

const sketch: fc.Arbitrary<Sketch> = fc.record({
  kind: fc.constantFrom('run', 'run', 'run', 'run', 'agent', 'ask', 'acquire', 'acquire'),
  needs: option(fc.array(fc.nat({ max: 6 }), { maxLength: 2 }), 2),
  branch: option(fc.array(fc.nat({ max: 5 }), { minLength: 2, maxLength: 3 }), 1),
  loop: fc.oneof(
    { weight: 3, arbitrary: fc.constant(undefined) },
    {
      weight: 1,
      arbitrary: fc.record({ back: fc.nat({ max: 4 }), max: fc.integer({ min: 2, max: 3 }), produced: fc.boolean() }),
    },
  ),
  release: fc.boolean(),
  role: fc.nat({ max: 23 }),
  outs: fc.nat({ max: 2 }),
  allowFailure: fc.boolean(),
  takes: fc.boolean(),
  judged: fc.boolean(),
});

/**
 * Valid contracts of every kind: asks, acquires, dispatches, loops, releases and outputs, and each inside the others as
 * far as the rules allow. Nodes differ in their attribute `role`; an acquire may want one that a declared role
 * has.
 */
export function contracts({ maxSteps = 16 } = {}): fc.Arbitrary<Contract> {
  return fc.array(sketch, { minLength: 1, maxLength: maxSteps, size: 'max' }).map(contractOf);
}

interface Range {
  first: number;
  last: number;
}

interface Plan {
  sketches: Sketch[];
  /** By step: its targets, its needs and its ancestors. */
  targets: number[][];
  needs: number[][];
  before: BitSet[];
  /** By step: the range of its loop. */
  loops: (Range | undefined)[];
  kinds: Sketch['kind'][];
}

const DECLARED = ['a', 'b', 'c', 'd', 'e', 'f'];
const WANTED = ['x', 'y', 'a', 'd'];

const idOf = (seq: number): string => `s${seq + 1}`;
const explicitNeeds = ({ needs }: Sketch, seq: number): string[] | undefined =>
  needs && [...new Set(needs.map((back) => seq - 1 - back))].filter((need) => need >= 0).map(idOf);

function contractOf(sketches: Sketch[]): Contract {
  const plan = planOf(sketches);
  const uses = sketches.map((_, seq) => roleOf(plan, seq));
  const steps = sketches.map((_, seq) => stepOf(plan, uses, seq));
  const conditions = steps.flatMap((step, seq): Condition[] => {
    const { judged, takes } = sketches[seq]!;
    const produced = takes && step.out ? { produced: step.out.slice(0, 1) } : undefined;
    if (!judged || (step.run === undefined && produced === undefined)) return [];
    return [{ step: step.id, ...(step.run && { exit_code: 0 }), ...produced }];
  });
  const requires = DECLARED.map((role) => ({ as: role, capability: 'board', attrs: { role } }));
  return { requires, steps, ...(conditions.length > 0 && { success_when: conditions }) };
}

function planOf(sketches: Sketch[]): Plan {
  const loops = loopsOf(sketches);
  const targets = sketches.map((one, seq) => targetsOf(one, seq, sketches.length, loops));
  const needsNow = (): number[][] =>
    normalisedNeeds(
      sketches.map((one, seq) => ({
        id: idOf(seq),
        needs: explicitNeeds(one, seq),
        targets: targets[seq]!.map(idOf),
      })),
    );
  let needs = needsNow();
  // A branch with a choice that could never be reached is given up, which changes what others need.
  for (;;) {
    const bad = targets.findIndex((of) => of.some((target) => !canBeReached(target, of, needs)));
    if (bad === -1) break;
    targets[bad] = [];
    needs = needsNow();
  }
  const kinds = sketches.map(({ kind }, seq) => (kind === 'acquire' && targets[seq]!.length === 0 ? 'run' : kind));
  return { sketches, targets, needs, before: ancestors(needs), loops, kinds };
}

function canBeReached(target: number, targets: number[], needs: number[][]): boolean {
  const skipped = skippedWith(targets, needs);
  return needs[target]!.length === 0 || !needs[target]!.every((need) => skipped.has(need));
}

function loopsOf(sketches: Sketch[]): Plan['loops'] {
  let free = 0;
  return sketches.map(({ kind, loop }, last) => {
    if (loop === undefined || (kind !== 'run' && kind !== 'agent')) return undefined;
    const first = Math.max(free, last - loop.back);
    free = last + 1;
    return { first, last };
  });
}

function targetsOf({ kind, branch = [0, 1] }: Sketch, seq: number, size: number, loops: Plan['loops']): number[] {
  const isAcquire = kind === 'acquire';
  if (loops[seq] !== undefined || (branch.length === 0 && !isAcquire)) return [];
  const range = loops.find((loop) => loop && loop.first <= seq && seq <= loop.last);
  const last = !isAcquire && range ? range.last : size - 1;
  const targets = [...new Set(branch.map((ahead) => seq + 1 + ahead))].filter((target) => target <= last);
  if (targets.length < 2) return [];
  return isAcquire ? targets.slice(0, 2) : targets;
}

const roleAcquiredBy = (seq: number): string => `r${seq + 1}`;

function roleOf({ sketches, kinds, before }: Plan, seq: number): string | undefined {
  if (kinds[seq] !== 'run' && kinds[seq] !== 'agent') return undefined;
  const acquired = kinds.flatMap((kind, by) =>
    kind === 'acquire' && before[seq]!.has(by) ? [roleAcquiredBy(by)] : [],
  );
  const roles = [...DECLARED, ...acquired, ...acquired];
  return roles[sketches[seq]!.role % roles.length];
}

function stepOf(plan: Plan, uses: (string | undefined)[], seq: number): StepSpec {
  const { sketches, targets, kinds } = plan;
  const one = sketches[seq]!;
  const needs = explicitNeeds(one, seq);
  const step: StepSpec = { id: idOf(seq), ...(needs && { needs }) };
  const kind = kinds[seq]!;
  if (kind === 'acquire') {
    const want = { as: roleAcquiredBy(seq), capability: 'board', attrs: { role: WANTED[one.role % WANTED.length]! } };
    return { ...step, acquire: { want, acquired: idOf(targets[seq]![0]!), unavailable: idOf(targets[seq]![1]!) } };
  }
  const out = outsOf(plan, seq);
  if (kind === 'ask') Object.assign(step, { ask: { prompt: '?' }, out, schema: { [out[0]!]: { type: 'object' } } });
  else {
    Object.assign(step, { uses: uses[seq], ...(kind === 'run' ? { run: ['true'] } : { agent: {} }) });
    if (out.length > 0) step.out = out;
    if (kind === 'run' && one.allowFailure) step.allow_failure = true;
    const taken = one.takes ? outsBefore(plan, seq) : [];
    if (taken.length > 0) step.in = taken;
  }
  if (targets[seq]!.length > 0) step.dispatch = { from: `${out[0]}.next`, to: targets[seq]!.map(idOf) };
  addLoop(step, plan, seq);
  const release = one.release ? releasable(plan, uses, seq) : [];
  if (release.length > 0) step.release = release;
  return step;
}

function addLoop(step: StepSpec, { sketches, loops }: Plan, seq: number): void {
  const range = loops[seq];
  if (range === undefined) return;
  const { max, produced } = sketches[seq]!.loop!;
  const byOutput = step.out !== undefined && (produced || step.run === undefined);
  const until = { ...(step.run && { exit_code: 0 }), ...(byOutput && { produced: step.out!.slice(0, 1) }) };
  step.loop = { back_to: idOf(range.first), max, until };
}

function outsOf({ sketches, kinds, targets, loops }: Plan, seq: number): string[] {
  const kind = kinds[seq]!;
  if (kind === 'acquire') return [];
  const fewest = targets[seq]!.length > 0 || loops[seq] !== undefined ? 1 : 0;
  const count = kind === 'ask' ? 1 : Math.max(fewest, sketches[seq]!.outs);
  return [`o${seq + 1}`, `p.${seq + 1}`].slice(0, count);
}

function outsBefore(plan: Plan, seq: number): string[] {
  return plan.sketches.flatMap((_, by) => (plan.before[seq]!.has(by) ? outsOf(plan, by).slice(0, 1) : [])).slice(0, 2);
}

/** The roles that a step may give back: it stands in no loop, and comes after everybody else who uses them. */
function releasable({ kinds, before, loops }: Plan, uses: (string | undefined)[], seq: number): string[] {
  if (loops.some((loop) => loop && loop.first <= seq && seq <= loop.last)) return [];
  const acquired = kinds.flatMap((kind, by) =>
    kind === 'acquire' && before[seq]!.has(by) ? [roleAcquiredBy(by)] : [],
  );
  return [...DECLARED, ...acquired].filter((role) =>
    uses.every((used, by) => used !== role || by === seq || before[seq]!.has(by)),
  );
}
