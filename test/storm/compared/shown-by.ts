import { canServe, naiveMatch, type Offering, widthOf } from '../../../src/domain/matching/naive-match.fixture.js';
import { CAP, FAULTS, type Model } from '../model/model.js';
import type { ModelRun } from '../model/model-run.js';

/** What the model says that the tables hold. */
export function shownBy(model: Model): object {
  const byNode = ([a]: [string, unknown], [b]: [string, unknown]): number => (a < b ? -1 : 1);
  const left = (until: number): number => Math.max(0, until - model.now);
  return {
    runs: [...model.runs.values()].map((run) => {
      const { run_id, state, reason, assigned } = run;
      return { run_id, state, reason, assigned: [...assigned], steps: stepsOf(run) };
    }),
    leases: [...model.leases].sort(byNode).map(([node_id, { run_id, roles, until }]) => {
      return { node_id, run_id, roles: [...roles].sort(), left: left(until) };
    }),
    nodes: [...model.nodes].sort(byNode).map(([node_id, { instance, drain, held, faults, until }]) => {
      const hold = held ?? null;
      return { node_id, instance, drain, hold, faults: Math.min(faults, FAULTS), left: left(until) };
    }),
  };
}

/** A run that was rejected has none, and one that has not begun has none that is more than it was at first. */
function stepsOf(run: ModelRun): object[] {
  const begun = run.steps.map((step) => {
    const { seq, state, attempt, chosen } = step;
    return { seq, state, attempt, chosen, node_id: run.nodeOf(step), by: run.claimed.get(seq)?.instance ?? null };
  });
  if (begun.length > 0 || run.state === 'FAILED') return begun;
  const state = run.state === 'QUEUED' ? 'PENDING' : 'CANCELLED';
  return run.contract.steps.map((_, at) => ({ seq: at + 1, state, attempt: 1, chosen: false, node_id: '', by: null }));
}

/** What the model says that GET /v1/queue shows: why each run waits, and how many older ones it shares a node with. */
export function queueOf(model: Model): object[] {
  const queue = model.inState('QUEUED');
  const inService = model.live().filter((node) => !model.leases.has(node.node_id));
  const reasonOf = ({ contract }: ModelRun): string => {
    const free = naiveMatch(contract, model.free(), CAP);
    if (!naiveMatch(contract, model.live())) return 'OFFLINE';
    if (free) return widthOf(free) > CAP ? 'TOO_WIDE' : 'BUSY';
    return naiveMatch(contract, inService) ? 'DRAINING' : 'BUSY';
  };
  const able = ({ contract }: ModelRun, node: Offering): boolean =>
    contract.requires.some((role) => canServe(role, node));
  return queue.map((run, at) => {
    const shares = (older: ModelRun): boolean => model.live().some((node) => able(older, node) && able(run, node));
    return {
      run_id: run.run_id,
      position: at + 1,
      reason: reasonOf(run),
      ahead: queue.slice(0, at).filter(shares).length,
    };
  });
}
