import type { PlayedRun } from './played-run.fixture.js';
import { StepGraph } from './step-graph.js';
import type { StepNow } from './step-now.js';

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
