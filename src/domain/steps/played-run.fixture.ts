import type { Contract } from '../contract/contract.js';
import { kindOf, needsOf } from '../contract/valid-steps.js';
import { choiceOutput, judgeResult, readChoice, type ReportedResult } from './judge-result.js';
import { settlement } from '../settlement.js';
import { type Ending, THE_SERVER } from '../verdict.js';
import { StepGraph } from './step-graph.js';
import type { StepNow, StepResult } from './step-now.js';

/** What happens to a run from outside. */
export type Move =
  | { kind: 'claim'; seq: number }
  | { kind: 'report'; seq: number; report: ReportedResult; uploads: Record<string, string> }
  | { kind: 'answer'; seq: number; answer: unknown };

/** What an acquire gets: a node, or undefined. */
export type Acquiring = (step: StepNow) => string | undefined;

/** A run without a database: the moves of a run, done on the graph in the order in which a transaction does them. */
export class PlayedRun {
  graph: StepGraph;
  ending: Ending | undefined;
  /** The roles that were given back so far. */
  readonly given = new Set<string>();
  /** The outputs of every attempt, under `<seq>.<attempt>`. */
  readonly #uploads = new Map<string, Record<string, string>>();

  constructor(
    contract: Contract,
    private readonly acquiring: Acquiring,
  ) {
    this.graph = new StepGraph(contract, pendingSteps(contract));
    for (const { as } of contract.requires) this.graph.bind(as, `node-${as}`);
    this.#advance();
    this.#settle();
  }

  /** Every step that a node could claim, is at work on, or that waits for a person: no move is possible but on these. */
  claimable(): StepNow[] {
    return this.graph.ready('run', 'agent').filter((step) => step.node_id !== '');
  }

  inState(state: 'CLAIMED' | 'ASKED'): StepNow[] {
    return this.graph.steps.filter((step) => step.state === state);
  }

  do(move: Move): void {
    const step = this.graph.step(move.seq);
    if (move.kind === 'claim') step.state = 'CLAIMED';
    else if (move.kind === 'answer') this.#answer(step, move.answer);
    else this.#report(step, move.report, move.uploads);
  }

  #report(step: StepNow, report: ReportedResult, uploads: Record<string, string>): void {
    this.#uploads.set(`${step.seq}.${step.attempt}`, uploads);
    const uploaded = new Set(Object.keys(uploads));
    const judged = judgeResult(report, this.graph.spec(step), step.attempt, uploaded);
    if (judged.kind === 'again') {
      if (this.graph.rollBack(step, { ...report }).skipped) this.#advance();
      for (const ask of this.graph.ready('ask')) this.graph.ask(ask);
    } else if (judged.kind === 'failed') this.graph.end(step, 'FAILED', failed(report, judged.error));
    else this.#takeEffect(step, { ...report });
    this.#settle();
  }

  #answer(step: StepNow, answer: unknown): void {
    const [output] = this.graph.spec(step).out!;
    this.#uploads.set(`${step.seq}.${step.attempt}`, { [output!]: JSON.stringify(answer) });
    this.#takeEffect(step, { produced: [output!], answer, answered_by: 'open' });
    this.#settle();
  }

  #takeEffect(step: StepNow, result: StepResult): void {
    const spec = this.graph.spec(step);
    if (spec.dispatch) {
      const choice = readChoice(spec, this.#uploads.get(`${step.seq}.${step.attempt}`)?.[choiceOutput(spec)]);
      if ('error' in choice) return this.graph.end(step, 'FAILED', failed(result, choice.error));
      this.graph.choose(step, choice.target, result);
    } else this.graph.end(step, 'DONE', result);
    this.#advance();
  }

  #advance(): void {
    for (const role of this.graph.givenBack()) this.given.add(role);
    for (let [step] = this.graph.ready('acquire'); step !== undefined; [step] = this.graph.ready('acquire')) {
      const { want, acquired, unavailable } = this.graph.spec(step).acquire!;
      const node = this.acquiring(step);
      this.graph.choose(step, node === undefined ? unavailable : acquired, {});
      if (node !== undefined) this.graph.bind(want.as, node);
    }
    for (const role of this.graph.givenBack()) this.given.add(role);
    for (const step of this.graph.ready('ask')) this.graph.ask(step);
  }

  #settle(): void {
    const { contract, steps } = this.graph;
    const uploaded = new Map(
      steps.map(({ seq, attempt }) => [seq, new Set(Object.keys(this.#uploads.get(`${seq}.${attempt}`) ?? {}))]),
    );
    this.ending = settlement(steps, contract.success_when ?? [], uploaded, THE_SERVER);
    if (this.ending) this.cancelSteps();
  }

  /** What the end of a run, of whatever kind, does to its steps. */
  cancelSteps(): void {
    for (const step of this.graph.steps) {
      if (['PENDING', 'CLAIMED', 'ASKED'].includes(step.state)) step.state = 'CANCELLED';
    }
  }
}

function pendingSteps(contract: Contract): StepNow[] {
  const needs = needsOf(contract);
  return contract.steps.map((spec, index) => ({
    seq: index + 1,
    id: spec.id,
    kind: kindOf(spec),
    uses: spec.uses ?? null,
    node_id: '',
    state: 'PENDING',
    needs: needs[index]!,
    attempt: 1,
    chosen: false,
    result: null,
    ended: null,
  }));
}

function failed(result: StepResult, error: string | undefined): StepResult {
  return error === undefined ? { ...result } : { ...result, error };
}

/**
 * Writes and reads the steps of a run after every move, as the database does: what one move ends ends at one time, a time
 * stays as long as its state does, and the order of ends is that of times, then of steps.
 */
export function storedAndRead(run: PlayedRun): () => void {
  const times = new Map<number, number>();
  const states = new Map<number, StepNow['state']>();
  let now = 0;
  const store = (): void => {
    now += 1;
    for (const { seq, state } of run.graph.steps) {
      if (!['DONE', 'FAILED', 'SKIPPED'].includes(state)) times.delete(seq);
      else if (states.get(seq) !== state) times.set(seq, now);
      states.set(seq, state);
    }
    const order = [...times].sort(([a, at], [b, bt]) => at - bt || a - b).map(([seq]) => seq);
    const steps = JSON.parse(JSON.stringify(run.graph.steps)) as StepNow[];
    for (const step of steps) step.ended = times.has(step.seq) ? order.indexOf(step.seq) + 1 : null;
    run.graph = new StepGraph(run.graph.contract, steps);
  };
  store();
  return store;
}
