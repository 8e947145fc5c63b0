import { expect } from '@jest/globals';
import type { Condition, StepSpec } from '../contract/contract.js';
import { parseValue } from '../contract/json-of.fixture.js';
import type { ReportedResult } from './judge-result.js';
import { PlayedRun } from './played-run.fixture.js';
import type { StepNow } from './step-now.js';

/** A run on the table: its steps are called by their ids, one move after the other. */
export interface Table {
  run: PlayedRun;
  states(): Record<string, StepNow['state']>;
  step(id: string): StepNow;
  /** The ids of what a node could claim now. */
  claimable(): string[];
  claim(id: string): void;
  /** Claims the step if it has not been claimed, and reports it. */
  report(id: string, report?: ReportedResult, uploads?: Record<string, string>): void;
  answer(id: string, answer: unknown): void;
}

export interface TableOptions {
  /** The steps whose acquire gets a node. */
  gets?: string[];
  success_when?: Condition[];
}

/** Sets up a run of a contract that must be valid. */
export function played(roles: string[], steps: StepSpec[], { gets = [], success_when }: TableOptions = {}): Table {
  const contract = { requires: roles.map((as) => ({ as, capability: 'board' })), steps, success_when };
  if (success_when === undefined) delete contract.success_when;
  expect(parseValue(contract)).toEqual({ ok: true, contract });
  const run = new PlayedRun(contract, ({ id }) => (gets.includes(id) ? `node-of-${id}` : undefined));
  const step = (id: string): StepNow => run.graph.steps.find((one) => one.id === id)!;
  const claim = (id: string): void => {
    expect(run.claimable().map((one) => one.id)).toContain(id);
    run.do({ kind: 'claim', seq: step(id).seq });
  };
  return {
    run,
    step,
    states: () => Object.fromEntries(run.graph.steps.map(({ id, state }) => [id, state])),
    claimable: () => run.claimable().map((one) => one.id),
    claim,
    report: (id, report = { exit_code: 0 }, uploads = {}) => {
      if (step(id).state === 'PENDING') claim(id);
      expect(step(id).state).toBe('CLAIMED');
      run.do({ kind: 'report', seq: step(id).seq, report, uploads });
    },
    answer: (id, answer) => {
      expect(step(id).state).toBe('ASKED');
      run.do({ kind: 'answer', seq: step(id).seq, answer });
    },
  };
}
