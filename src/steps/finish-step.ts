import { readOutput } from '../bodies/outputs.sql.js';
import { CHOICE_BYTES, type Choice, choiceOutput, readChoice } from '../domain/steps/judge-result.js';
import type { StepNow, StepResult } from '../domain/steps/step-now.js';
import type { LeaseTerms } from '../leases/lease-terms.js';
import { releaseRoles } from '../leases/leases.sql.js';
import type { Tx } from '../platform/database/queryable.js';
import { appendEvent } from '../records/events.sql.js';
import { advance, raiseAsks } from './advance.js';
import { closeAsks } from './asks.sql.js';
import { type LockedRunGraph, writeGraph } from './graph.sql.js';

/** What was judged of a step that was reported or answered. */
export type Finish = { kind: 'done' } | { kind: 'failed'; error?: string } | { kind: 'again' };

/** What the step is then. SKIPPED: it was to go round again, but a branch outside its loop has chosen another meanwhile. */
export type Finished = 'DONE' | 'FAILED' | 'PENDING' | 'SKIPPED';

/**
 * Ends a step, or sends its loop round again, with all that follows from it but the settlement: dispatch, release,
 * acquires, questions, in this order. The choice of a dispatch is judged before anything changes: a bad one fails the step.
 */
export async function finishStep(
  tx: Tx,
  run: LockedRunGraph,
  step: StepNow,
  result: StepResult,
  finish: Finish,
  terms: LeaseTerms,
): Promise<Finished> {
  if (finish.kind === 'again') await goRoundAgain(tx, run, step, result, terms);
  else if (finish.kind === 'failed') fail(run, step, result, finish.error);
  else await takeEffect(tx, run, step, result, terms);
  writeGraph(tx, run);
  return run.graph.step(step.seq).state as Finished;
}

/**
 * The report is rolled back: no dispatch, no release, no acquire; only questions that are ready again are raised. But
 * where a branch outside the loop has skipped a step of it that had begun, this step is over now, and the run goes on.
 */
async function goRoundAgain(
  tx: Tx,
  run: LockedRunGraph,
  step: StepNow,
  result: StepResult,
  terms: LeaseTerms,
): Promise<void> {
  const given = run.graph.givenBack();
  const { withdrawn, skipped } = run.graph.rollBack(step, result);
  if (withdrawn.length > 0) tx.send(closeAsks(run.run_id, 'CANCELLED', withdrawn));
  if (skipped) await advance(tx, run, terms);
  else raiseAsks(tx, run);
  await giveBack(tx, run, step.seq, given);
}

function fail(run: LockedRunGraph, step: StepNow, result: StepResult, error: string | undefined): void {
  run.graph.end(step, 'FAILED', error === undefined ? result : { ...result, error });
}

async function takeEffect(
  tx: Tx,
  run: LockedRunGraph,
  step: StepNow,
  result: StepResult,
  terms: LeaseTerms,
): Promise<void> {
  const spec = run.graph.spec(step);
  const choice = spec.dispatch && (await readChosen(tx, run, step));
  if (choice && 'error' in choice) return fail(run, step, result, choice.error);
  const givenBefore = run.graph.givenBack();
  if (choice) run.graph.choose(step, choice.target, result);
  else run.graph.end(step, 'DONE', result);
  const given = await giveBack(tx, run, step.seq, givenBefore);
  await advance(tx, run, terms);
  // An acquire may have skipped the last step that could have used a role.
  await giveBack(tx, run, step.seq, given);
}

async function readChosen(tx: Tx, { run_id, graph }: LockedRunGraph, step: StepNow): Promise<Choice> {
  const spec = graph.spec(step);
  const output = await tx.ask(readOutput(run_id, step.seq, step.attempt, choiceOutput(spec), CHOICE_BYTES));
  return readChoice(spec, output);
}

/** Gives back the roles that are not needed any more since a moment ago. Gives all that have been given back by now. */
async function giveBack(tx: Tx, run: LockedRunGraph, seq: number, before: Set<string>): Promise<Set<string>> {
  const given = run.graph.givenBack();
  const roles = [...given].filter((role) => !before.has(role));
  if (roles.length > 0) {
    const freed = await tx.ask(releaseRoles(run.run_id, roles, 'released'));
    run.freed.push(...freed);
    tx.send(appendEvent(run.run_id, 'released', { seq, roles, freed }));
  }
  return given;
}
