/*
 * How long a job waits between two others, and how long one waits that comes to an idle worker, by each peer's own fast
 * way: graphile-worker listens for NOTIFY and asks again as soon as a job has ended; pg-boss is woken by `notifyWorker`, or
 * fetches in a loop.
 */
import { Logger, makeWorkerUtils, run } from 'graphile-worker';
import PgBoss from 'pg-boss';

const SILENT = new Logger(() => () => undefined);

export class GraphileWorker {
  constructor(url) {
    this.place = { connectionString: url, maxPoolSize: 10, logger: SILENT };
  }

  async start() {
    this.utils = await makeWorkerUtils(this.place);
    await this.utils.migrate();
  }

  /** From the end of one job to the start of the next, which is there already. */
  async endToNext(count) {
    for (let index = 0; index <= count; index++) await this.utils.addJob('next', {});
    const times = [];
    let ended;
    await this.#work('next', (all) => {
      if (ended !== undefined) times.push(performance.now() - ended);
      if (times.length === count) all();
      ended = performance.now();
    });
    return times;
  }

  /** From the adding of a job to its start, the worker being idle. */
  async toHandler(count) {
    const times = [];
    let began;
    let started;
    await this.#work(
      'idle',
      () => {
        times.push(performance.now() - began);
        started();
      },
      async () => {
        for (let index = 0; index < count; index++) {
          const handled = new Promise((resolve) => (started = resolve));
          began = performance.now();
          await this.utils.addJob('idle', {});
          await handled;
        }
      },
    );
    return times;
  }

  /** Runs a worker until the handler says that it was all, or until `meanwhile` is done. */
  async #work(task, handle, meanwhile) {
    let all;
    const whole = new Promise((resolve) => (all = resolve));
    const taskList = { [task]: () => handle(all) };
    const runner = await run({ ...this.place, concurrency: 1, noHandleSignals: true, taskList });
    await (meanwhile ? meanwhile() : whole);
    await runner.stop();
  }

  stop() {
    return this.utils.release();
  }
}

export class Boss {
  constructor(url) {
    this.boss = new PgBoss({ connectionString: url, max: 10, supervise: false, schedule: false });
    this.boss.on('error', () => undefined);
  }

  async start() {
    await this.boss.start();
    await this.boss.createQueue('next');
    await this.boss.createQueue('idle');
  }

  async endToNext(count) {
    for (let index = 0; index <= count; index++) await this.boss.send('next', {});
    const times = [];
    let [job] = await this.boss.fetch('next');
    while (times.length < count) {
      const ended = performance.now();
      await this.boss.complete('next', job.id);
      [job] = await this.boss.fetch('next');
      times.push(performance.now() - ended);
    }
    await this.boss.complete('next', job.id);
    return times;
  }

  async toHandler(count) {
    const times = [];
    let began;
    let started;
    const worker = await this.boss.work('idle', { pollingIntervalSeconds: 30 }, async () => {
      times.push(performance.now() - began);
      started();
    });
    for (let index = 0; index < count; index++) {
      const handled = new Promise((resolve) => (started = resolve));
      began = performance.now();
      await this.boss.send('idle', {});
      this.boss.notifyWorker(worker);
      await handled;
    }
    await this.boss.offWork({ id: worker });
    return times;
  }

  stop() {
    return this.boss.stop({ graceful: false, wait: false });
  }
}
