/*
 * The databases that figures begin with. A fleet: nodes that are free, and a history, since on empty tables PostgreSQL
 * keeps a plan that reads everything. A cell: a fleet that is taken, with runs that wait and cannot go.
 */
import { ANY_BOARD, blockedKinds, kindOf, contractOf } from './kinds.mjs';
import { boardName, fillNodes, HOT, NEVER_FREE } from './nodes.mjs';
import { fillRuns } from './runs.mjs';

const FINISHED = 20_000;
const HOT_RUN = kindOf(contractOf({ capability: 'hot' }));

/** So many nodes in all, two of which are the hot ones; everything is free. */
export function fleet(databases, nodes, finished = FINISHED) {
  const boards = boardNames(nodes);
  return databases.filled(`fleet_${nodes}_${finished}`, undefined, async (client) => {
    await fillNodes(client, boards.length);
    const history = { state: 'finished', kinds: [ANY_BOARD], prefix: 'old-', count: finished, nodes: boards };
    await fillRuns(client, { ...history, unchecked: true });
  });
}

/**
 * A fleet that is taken: each board by a run that goes on for ever, the hot node by one that is about to report. `queued`
 * runs of `signatures` kinds wait, `touching` of them for more nodes of the hot sort than will be free.
 */
export async function cell(databases, { nodes, queued, signatures, touching = 0.1, finished = FINISHED }) {
  const from = await fleet(databases, nodes, finished);
  const kinds = queued === 0 ? [] : blockedKinds(Math.min(signatures, queued), touching);
  const name = `cell_${nodes}_${queued}_${kinds.length}_${Math.round(touching * 100)}_${finished}`;
  return databases.filled(name, from, async (client) => {
    const boards = boardNames(nodes);
    const held = { state: 'bound', kinds: [ANY_BOARD], prefix: 'held-', count: boards.length, nodes: boards };
    await fillRuns(client, { ...held, unchecked: true });
    const hot = { kinds: [HOT_RUN], count: 1, unchecked: true };
    await fillRuns(client, { ...hot, state: 'claimed', prefix: 'hot-', nodes: [HOT] });
    await fillRuns(client, { ...hot, state: 'bound', prefix: 'never-', nodes: [NEVER_FREE] });
    await fillRuns(client, { state: 'queued', kinds, prefix: 'blocked-', count: queued, unchecked: true });
  });
}

export function boardNames(nodes) {
  return Array.from({ length: nodes - 2 }, (_, index) => boardName(index));
}
