import { ANY_BOARD } from '../fill/kinds.mjs';
import { boardNames } from '../fill/cells.mjs';
import { endRuns, fillRuns, runName } from '../fill/runs.mjs';
import { crowd } from './crowd.mjs';

export const VERBS = ['create', 'promote', 'settle'];
/** What a run has to be before each. */
const BEFORE = { promote: 'queued', settle: 'claimed' };

/**
 * The three hot transactions on a fleet that is free, in batches: as many as there are nodes, each on a node of its own.
 * What a batch needs is filled before it and ended after it; only the batch itself is timed.
 */
export class HotVerbs {
  #batches = 0;

  constructor(client, nodes) {
    this.client = client;
    this.boards = boardNames(nodes);
  }

  /** How many of this verb `side` does in a second, so many clients at a time. */
  perSecond(side, verb, clients, count) {
    return this.inBatches(verb, count, (tasks) => crowd(clients, tasks, (task) => side[verb](task)));
  }

  /** The same for anybody who does a batch of tasks and says how many seconds it took. */
  async inBatches(verb, count, act) {
    let [done, seconds] = [0, 0];
    while (done < count) {
      const size = Math.min(count - done, this.boards.length);
      const prefix = `batch-${String(this.#batches++).padStart(5, '0')}-`;
      const filling = { state: BEFORE[verb], kinds: [ANY_BOARD], prefix, count: size, nodes: this.boards };
      if (BEFORE[verb]) await fillRuns(this.client, filling);
      const tasks = this.boards.slice(0, size).map((node, index) => {
        const run_id = runName(prefix, index);
        return { run_id, node, kind: ANY_BOARD, nonce: `nonce-${run_id}` };
      });
      seconds += (await act(tasks)).seconds;
      await endRuns(this.client, prefix);
      done += size;
    }
    return done / seconds;
  }
}
