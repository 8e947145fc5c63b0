import type { Requirement } from '../domain/contract/contract.js';
import { match } from '../domain/matching/match.js';
import { RankedFleet } from '../domain/matching/ranked-fleet.js';
import type { StepNow } from '../domain/steps/step-now.js';
import { readAdverts, readUnavailable } from '../fleet/fleet.sql.js';
import type { LeaseTerms } from '../leases/lease-terms.js';
import { countLeases, grantLeases } from '../leases/leases.sql.js';
import type { Tx } from '../platform/database/queryable.js';
import { failpoint } from '../platform/failpoints.js';
import { appendEvent, appendEvents } from '../records/events.sql.js';
import { insertAsks, type NewAsk } from './asks.sql.js';
import type { LockedRunGraph } from './graph.sql.js';
import { writeAssigned } from './run-endings.sql.js';

/**
 * Does what the Mediator itself has to do for a run, until nothing is left: acquires that are ready, each of which
 * chooses a branch and may make the next one ready; then the questions that are ready, last. One engine for creation,
 * promotion, reports and answers. Gives the nodes it acquired.
 */
export async function advance(tx: Tx, run: LockedRunGraph, terms: LeaseTerms): Promise<string[]> {
  const { graph } = run;
  const acquired: string[] = [];
  for (let [step] = graph.ready('acquire'); step !== undefined; [step] = graph.ready('acquire')) {
    const { want, acquired: ifAcquired, unavailable } = graph.spec(step).acquire!;
    const node = await acquireNode(tx, run.run_id, want, terms);
    graph.choose(step, node === undefined ? unavailable : ifAcquired, {});
    if (node === undefined) continue;
    graph.bind(want.as, node.node_id);
    run.assigned.push({ as: want.as, nodes: [node] });
    acquired.push(node.node_id);
    tx.send(appendEvent(run.run_id, 'acquired', { seq: step.seq, role: want.as, node_id: node.node_id }));
  }
  if (acquired.length > 0) tx.send(writeAssigned(run.run_id, run.assigned));
  raiseAsks(tx, run);
  return acquired;
}

/**
 * Takes one more node for a run that is under way, for the first life of a lease, or finds that there is none now:
 * undefined. A draining node counts as taken, and so does one that the run holds already. A collision tries the next
 * candidate. The node is locked after the run, against the order of locks: a deadlock runs the transaction again.
 */
async function acquireNode(
  tx: Tx,
  runId: string,
  want: Requirement,
  { ttlSeconds, maxLeases }: LeaseTerms,
): Promise<{ node_id: string; label: string } | undefined> {
  if (maxLeases > 0 && (await tx.ask(countLeases(runId))) >= maxLeases) return undefined;
  const fleet = RankedFleet.of(await tx.ask(readAdverts()));
  const unavailable = (await tx.ask(readUnavailable())).all;
  for (;;) {
    const found = match([want], false, fleet, unavailable);
    if (found.kind !== 'matched') return undefined;
    await failpoint(`${tx.name}.before-acquire`);
    if ((await tx.ask(grantLeases(runId, found.nodes, ttlSeconds))) === 'granted') return found.assigned[0]!.nodes[0]!;
    unavailable.add(found.nodes[0]!.node_id);
  }
}

/** Asks every question that is ready. Notices of them are sent after the commit. */
export function raiseAsks(tx: Tx, { run_id, graph }: LockedRunGraph): void {
  const ready = graph.ready('ask');
  if (ready.length === 0) return;
  const asks = ready.map((step) => askOf(step, graph.spec(step)));
  for (const step of ready) graph.ask(step);
  tx.send(insertAsks(run_id, asks));
  tx.send(
    appendEvents(
      run_id,
      'asked',
      asks.map(({ seq, attempt }) => ({ seq, attempt })),
    ),
  );
  tx.notify('asks');
}

function askOf(step: StepNow, spec: LockedRunGraph['graph']['contract']['steps'][number]): NewAsk {
  const { prompt, answerers, timeout_seconds, show = [] } = spec.ask!;
  const output = spec.out![0]!;
  return {
    seq: step.seq,
    attempt: step.attempt,
    prompt,
    output,
    answerers: answerers ?? null,
    show,
    timeout_seconds: timeout_seconds ?? null,
  };
}
