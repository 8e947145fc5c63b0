import type { Answer } from './http.js';
import type { TestMediator } from './mediator.js';

export function submit(server: TestMediator, contract: object): Promise<Answer> {
  return server.send('POST', '/v1/runs', { body: contract });
}

/** Submits one after the other; gives the statuses. */
export async function submitAll(server: TestMediator, ...contracts: object[]): Promise<number[]> {
  const statuses: number[] = [];
  for (const contract of contracts) statuses.push((await submit(server, contract)).status);
  return statuses;
}

export function cancel(server: TestMediator, runId: string): Promise<Answer> {
  return server.send('POST', `/v1/runs/${runId}/cancel`);
}

/** Cancels whatever runs. Who waits for it runs then, and goes on. */
export async function cancelRunning(server: TestMediator): Promise<void> {
  const running = await server.database.sql<{ run_id: string }>("SELECT run_id FROM runs WHERE state = 'RUNNING'");
  for (const { run_id } of running) await cancel(server, run_id);
}

/** The run as the next request sees it. */
export async function show(server: TestMediator, runId: string): Promise<any> {
  const { status, body } = await server.send('GET', `/v1/runs/${runId}`);
  if (status !== 200) throw new Error(`run ${runId}: ${status}`);
  return body;
}

export async function states(server: TestMediator, ...runIds: string[]): Promise<string[]> {
  const shown: string[] = [];
  for (const runId of runIds) shown.push((await show(server, runId)).state);
  return shown;
}

/** How the run was promoted, and what it holds; by the rows. */
export async function promotion(
  server: TestMediator,
  runId: string,
): Promise<{ state: string; whys: string[] | null; holds: string[] }> {
  const [row] = await server.database.sql<{ state: string; whys: string[] | null; holds: string[] }>(
    `SELECT state, promoted_whys AS whys,
            ARRAY(SELECT node_id FROM leases l WHERE l.run_id = r.run_id ORDER BY node_id) AS holds
       FROM runs r WHERE run_id = $1`,
    [runId],
  );
  if (row === undefined) throw new Error(`there is no run ${runId}`);
  return row;
}

export interface QueueFigures {
  wakes: Record<string, number>;
  sweeps: Record<string, number>;
}

/** Begins to count; what it gives tells the wakes, by why, and the sweeps, by result, since then. */
export async function countWakes(server: TestMediator): Promise<() => Promise<QueueFigures>> {
  const before = await read(server);
  return async () => {
    const now = await read(server);
    return { wakes: risen(before.wakes, now.wakes), sweeps: risen(before.sweeps, now.sweeps) };
  };
}

async function read(server: TestMediator): Promise<QueueFigures> {
  const { body } = await server.send<string>('GET', '/metrics');
  const figures: QueueFigures = { wakes: {}, sweeps: {} };
  for (const [, what, label, count] of body.matchAll(/^mediator_(wakes|sweeps)_total\{\w+="([^"]+)"\} (\d+)$/gm)) {
    figures[what as keyof QueueFigures][label!] = Number(count);
  }
  return figures;
}

function risen(before: Record<string, number>, now: Record<string, number>): Record<string, number> {
  const differences = Object.entries(now).map(([label, count]) => [label, count - (before[label] ?? 0)] as const);
  return Object.fromEntries(differences.filter(([, count]) => count !== 0));
}
