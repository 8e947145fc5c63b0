import { once } from 'node:events';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { expect } from '@jest/globals';

/** How one kind of request fared. */
interface Fared {
  times: number;
  worstMs: number;
  /** How often each status was answered; what broke off is named by its error. */
  statuses: Record<string, number>;
}

/** What somebody else met at the server meanwhile. */
export interface Neighbour {
  livez: Fared;
  submit: Fared;
}

export interface NeighbourOptions {
  /** Sent with every request: a token of the role submitter, where the server has tokens. */
  headers?: Record<string, string>;
  /** The role that it asks a board for: it submits `R(role)`, and a node that offers it should be there. */
  role?: string;
}

/** Does something to the server while somebody else, in a thread of their own, asks /livez and submits, and tells how they fared. */
export async function besideNeighbour(
  url: string,
  attack: () => Promise<unknown>,
  { headers = {}, role = 'neighbour' }: NeighbourOptions = {},
): Promise<Neighbour> {
  const worker = new Worker(join(process.cwd(), 'test/support/neighbour-thread.mjs'), {
    workerData: { url, headers, role },
  });
  try {
    await once(worker, 'message');
    await attack();
    worker.postMessage('stop');
    const [seen] = (await once(worker, 'message')) as [Neighbour];
    return seen;
  } finally {
    await worker.terminate();
  }
}

const MOST_MS = { livez: 300, submit: 1000 };

/** What one caller sends does not stop the others: the bounds of the scenarios L1 to L11. */
export function expectUndisturbed({ livez, submit }: Neighbour): void {
  expect(livez.worstMs).toBeLessThan(MOST_MS.livez);
  expect(submit.worstMs).toBeLessThan(MOST_MS.submit);
  expect(Object.keys(livez.statuses)).toEqual(['200']);
  for (const status of Object.keys(submit.statuses)) expect(['201', '202']).toContain(status);
}
