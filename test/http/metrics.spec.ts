import { nameOf } from '../support/raw-statement.js';
import { describe, expect, it, jest } from '@jest/globals';
import { Database } from '../../src/platform/database/database.js';
import { R } from '../support/contracts.js';
import { eventually } from '../support/eventually.js';
import { cancel } from '../support/queue.js';
import { serverSuite } from '../support/server-suite.js';

interface Metric {
  name: string;
  type: string;
  help: string;
  /** Names of its lines. */
  lines: Set<string>;
}

/** The metrics of a text in Prometheus' format; throws where a line belongs to none. */
function metricsIn(text: string): Metric[] {
  const metrics = new Map<string, Metric>();
  for (const line of text.split('\n').filter((one) => one !== '')) {
    const [, word, name, rest = ''] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? [];
    if (name !== undefined) {
      const metric = metrics.get(name) ?? { name, type: '', help: '', lines: new Set() };
      metrics.set(name, { ...metric, [word === 'HELP' ? 'help' : 'type']: rest });
      continue;
    }
    const sample = /^([a-zA-Z_:][\w:]*)(\{.*\})? \S+$/.exec(line)?.[1];
    const owner = metrics.get(sample ?? '') ?? metrics.get((sample ?? '').replace(/_(bucket|sum|count)$/, ''));
    if (owner === undefined) throw new Error(`the line belongs to no metric: ${line}`);
    owner.lines.add(sample!);
  }
  return [...metrics.values()];
}

describe('GET /metrics', () => {
  const server = serverSuite();
  const text = async (): Promise<string> => (await server.send<string>('GET', '/metrics')).body;

  it('every metric is named and explained as Prometheus wants it', async () => {
    // The rules of `promtool check metrics`, and ours.
    const metrics = metricsIn(
      await eventually('all are there', async () => {
        const all = await text();
        return all.includes('mediator_queue_depth') && all;
      }),
    );
    const faults = metrics.flatMap(({ name, type, help, lines }) => {
      const counter = type === 'counter';
      return [
        !/^mediator_[a-z][a-z0-9_]*$/.test(name) && 'begins with mediator_, in small letters',
        !['counter', 'gauge', 'histogram'].includes(type) && `has a type, not "${type}"`,
        counter !== name.endsWith('_total') && 'ends in _total if it is a counter, and only then',
        /_(bucket|sum|count|info)$/.test(name) &&
          !name.endsWith('version_info') &&
          'does not end as parts of others do',
        /_(ms|milliseconds|minutes|hours|kb|mb|kilobytes|percent)(_|$)/.test(name) && 'has base units',
        /(counter|gauge|histogram)/.test(name) && 'does not have its type in its name',
        !/^[A-Z].{5,}\.$/.test(help) && `has a help that is a sentence, not "${help}"`,
        ...[...lines].filter((line) => type !== 'histogram' && line !== name),
      ].flatMap((fault) => (fault === false ? [] : [`${name}: ${fault}`]));
    });
    expect(faults).toEqual([]);
    expect(metrics.length).toBeGreaterThan(25);
    const names = metrics.map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining([
        'mediator_wakes_total',
        'mediator_sweeps_total',
        'mediator_runs',
        'mediator_process_cpu_seconds_total',
        'mediator_nodejs_active_handles',
        'mediator_nodejs_eventloop_lag_seconds',
      ]),
    );
    expect(new Set(names).size).toBe(names.length);
    // Who adds up what each of three servers tells of one database has three times the truth.
    const shared = metrics.filter(({ help }) => help.includes('take the max, not the sum'));
    expect(shared.map(({ name }) => name)).toEqual([
      'mediator_runs',
      'mediator_queue_depth',
      'mediator_queue_oldest_wait_seconds',
    ]);
  });

  it('the database is asked for its figures once in 5 s, whoever asks; what is counted here is always as it is', async () => {
    const database = server.mediator.app.get(Database);
    const spy = jest.spyOn(database, 'ask');
    const asked = () => spy.mock.calls.filter(([statement]) => nameOf(statement) === 'health.read-figures').length;
    await Promise.all(Array.from({ length: 100 }, text));
    const before = await server.figure('mediator_wakes_total{why="cancel"}');
    await server.node('M1', [{ role: 'm' }]).advertise();
    await server.send('POST', '/v1/runs', { body: R('m', { run_id: 'm-a' }) });
    await cancel(server, 'm-a');
    expect(await server.figure('mediator_wakes_total{why="cancel"}')).toBe(before + 1);
    for (let n = 0; n < 100; n++) await text();
    // The last look may have begun just before, and its 5 s may be over now.
    expect(asked()).toBeLessThanOrEqual(2);
    spy.mockRestore();
  });

  it('runs are counted by state, over or not, before and after those that have ended were added up', async () => {
    const states = ['QUEUED', 'RUNNING', 'SUCCEEDED', 'FAILED', 'CANCELLED'];
    const told = async () => {
      const all = await text();
      return states.map((state) =>
        Number(new RegExp(`^mediator_runs\\{state="${state}"\\} (\\d+)$`, 'm').exec(all)?.[1]),
      );
    };
    const node = server.node('C1', [{ role: 'c' }]);
    await node.advertise();
    for (const run_id of ['c-a', 'c-b', 'c-c', 'c-d']) {
      await server.send('POST', '/v1/runs', { body: R('c', { run_id }) });
    }
    await server.send('POST', '/v1/runs', { body: R('nowhere', { run_id: 'c-e' }) });
    await node.work();
    await node.work({ exit_code: 1 });
    // c-a has succeeded, c-b and c-e have failed, c-c runs, c-d waits; m-a was cancelled.
    const expected = JSON.stringify([1, 1, 1, 2, 1]);
    await eventually('all are counted', async () => JSON.stringify(await told()) === expected);

    const counted = async (): Promise<unknown[]> => [
      await server.database.sql(
        `SELECT state, sum(runs)::int AS runs
           FROM (SELECT * FROM ended_runs UNION ALL SELECT * FROM ended_runs_news) AS all_of_them GROUP BY state ORDER BY state`,
      ),
      await server.database.sql('SELECT count(*)::int AS rows FROM ended_runs_news'),
    ];
    const sums = [
      { state: 'CANCELLED', runs: 1 },
      { state: 'FAILED', runs: 2 },
      { state: 'SUCCEEDED', runs: 1 },
    ];
    expect(await counted()).toEqual([sums, [{ rows: 4 }]]);
    await server.reap();
    expect(await counted()).toEqual([sums, [{ rows: 0 }]]);
    await cancel(server, 'c-d');
    await server.reap();
    expect(await counted()).toEqual([[{ state: 'CANCELLED', runs: 2 }, ...sums.slice(1)], [{ rows: 0 }]]);
  });
});
