import type { RunState } from '../domain/states.js';
import { type Read, read } from '../platform/database/statement.js';

/** Resolves where the database answers and takes writes: it asks for the right to write, and touches no row. */
export function ping(): Read<void> {
  return read({ name: 'health.ping', text: 'SELECT FROM servers WHERE false FOR UPDATE' });
}

/** What only the database knows. */
export interface Figures {
  runs: Partial<Record<RunState, number>>;
  oldest_wait_seconds: number;
}

/** Counts the runs that are queued or under way; of those that are over it reads how many there are. */
export function readFigures(): Read<Figures> {
  return read({
    name: 'health.read-figures',
    text: `
     SELECT (SELECT coalesce(json_object_agg(state, runs), '{}')
               FROM (SELECT state, sum(runs) AS runs
                       FROM (SELECT state, runs FROM ended_runs
                              UNION ALL SELECT state, runs FROM ended_runs_news
                              UNION ALL SELECT 'QUEUED', count(*) FROM runs WHERE state = 'QUEUED'
                              UNION ALL SELECT 'RUNNING', count(*) FROM runs WHERE state = 'RUNNING') AS parts
                      GROUP BY state) AS by_state) AS runs,
            (SELECT coalesce(extract(epoch FROM clock_timestamp() - min(created_at)), 0)::float8
               FROM runs WHERE state = 'QUEUED') AS oldest_wait_seconds`,
    as: (rows: Figures[]) => rows[0]!,
  });
}
