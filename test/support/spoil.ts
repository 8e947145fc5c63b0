import type pg from 'pg';
import { Database } from '../../src/platform/database/database.js';
import type { TestMediator } from './mediator.js';

/** Opens as many connections of the server's pool as it may have, and does something to each: they lie in the pool afterwards. */
export async function toEverySession(
  { mediator }: TestMediator,
  count: number,
  act: (client: pg.ClientBase) => Promise<unknown>,
): Promise<void> {
  const { source } = mediator.app.get(Database);
  const runners = Array.from({ length: count }, () => source.createQueryRunner());
  const clients = (await Promise.all(runners.map((runner) => runner.connect()))) as pg.ClientBase[];
  for (const client of clients) await act(client);
  for (const runner of runners) await runner.release();
}
