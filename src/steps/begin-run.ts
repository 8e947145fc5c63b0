import { THE_SERVER } from '../domain/verdict.js';
import type { LeaseTerms } from '../leases/lease-terms.js';
import type { Tx } from '../platform/database/queryable.js';
import { advance } from './advance.js';
import { settle } from './end-run.js';
import { readGraph, writeGraph } from './graph.sql.js';

/**
 * What follows where a run has become RUNNING in this transaction, with its leases, its steps bound to their nodes: the
 * acquires that are ready, then the questions that are ready. A run that was created at once and one that was promoted both
 * begin here. `matched`: its nodes; `serverSteps`: whether it has steps that the server does itself. Gives the nodes that it
 * has taken: none where its acquires have skipped every step, and it is over.
 */
export async function beginRun(
  tx: Tx,
  runId: string,
  { matched, serverSteps, terms }: { matched: string[]; serverSteps: boolean; terms: LeaseTerms },
): Promise<string[]> {
  tx.notify('steps');
  tx.notify('runs');
  if (!serverSteps) return matched;
  const run = (await tx.ask(readGraph(runId)))!;
  const acquired = await advance(tx, run, terms);
  writeGraph(tx, run);
  const ended = await settle(tx, run, THE_SERVER);
  return ended ? [] : [...matched, ...acquired];
}
