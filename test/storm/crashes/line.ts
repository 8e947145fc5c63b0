import { expect } from '@jest/globals';
import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { within } from '../../../src/platform/within.js';
import { get } from '../../support/bytes.js';
import { createDatabase, type TestDatabase } from '../../support/database.js';
import { type LossyLink, openLossyLink } from '../../support/lossy-link.js';
import { openReceiver, type Receiver } from '../../support/receiver.js';
import { question } from '../../support/asks.js';
import { verify } from '../../support/record.js';
import { needs } from '../../support/contracts.js';
import { Caller, ServerGone } from './caller.js';
import { type Armed, Killable } from './killable.js';
import { FieldNode, People } from './players.js';
import { expectAllSettled, expectNobodyStranded, expectNothingOverdue, goOn } from './settle.js';
import { NODES, type Scene, STRANDS } from './strands.js';
import { type Death, isOfStop, type Point } from './deaths.js';

/** Laps of the workload at most until the point is met. */
const LAPS = 3;
/** Where the promotion of the start-up wake is when the server dies for the second time. */
const AT_START = { point: 'promote.before-commit', passing: 1 };

export interface Outcome {
  /** False: the point was not met, and the server was stopped by a signal instead. */
  died: boolean;
  diedAgain: boolean;
  looked: number;
  broken: string[];
}

/** One database, and the servers that die on it one after the other. */
export class Line {
  readonly #caller: Caller;
  readonly #people: People;
  readonly #nodes: Record<string, FieldNode>;
  readonly #planted = new Set<string>();
  readonly #env: Record<string, string>;
  #server: Killable | undefined;
  #next: Killable | undefined;
  #laps = 0;

  private constructor(
    private readonly name: string,
    private readonly link: LossyLink,
    private readonly receiver: Receiver,
  ) {
    this.#caller = new Caller(this.database);
    this.#people = new People(this.#caller);
    this.#nodes = Object.fromEntries(NODES.map((nodeId) => [nodeId, new FieldNode(this.#caller, nodeId)]));
    // The reaper comes often, and yet nothing ever runs out because this machine is slow.
    this.#env = {
      DATABASE_URL: link.database.url,
      MEDIATOR_RENEW_SECONDS: '0.3',
      MEDIATOR_NOT_AFTER_FACTOR: '1000',
      MEDIATOR_ASK_WEBHOOK_URL: receiver.url,
    };
  }

  static async open(name: string): Promise<Line> {
    return new Line(name, await openLossyLink(await createDatabase()), await openReceiver());
  }

  get database(): TestDatabase {
    return this.link.database;
  }

  /** Which points there are: all that the workload and a stop pass, strand by strand, with a server that nobody kills. */
  async discover(): Promise<Point[]> {
    const folder = mkdtempSync(join(tmpdir(), 'mediator-points-'));
    const record = join(folder, 'points');
    this.#next = new Killable(record);
    await this.#begin();
    const points = new Map<string, Point>();
    const note = (strand: number): void => {
      const passed = new Map<string, number>();
      for (const name of readFileSync(record, 'utf8').split('\n').slice(0, -1)) {
        passed.set(name, (passed.get(name) ?? 0) + 1);
      }
      for (const [name, times] of passed) {
        if (times > (points.get(name)?.times ?? 0)) points.set(name, { name, strand, times });
      }
      truncateSync(record);
    };
    // A node is new but once: what only a first lap passes is not met again.
    for (const node of Object.values(this.#nodes)) await node.advertise();
    truncateSync(record);
    for (const strand of STRANDS.keys()) {
      await this.#lap([strand]);
      note(strand);
    }
    await this.#stop();
    note(0);
    rmSync(folder, { recursive: true });
    return [...points.values()];
  }

  /** Lets a server die so while these strands go on, and looks what has become of everything. */
  async die(death: Death, strands: number[]): Promise<Outcome> {
    if (this.#server?.isOver !== false) await this.#begin();
    this.#next = new Killable();
    this.#caller.beginAnew();
    const server = this.#server!;
    server.whenAt(() => this.link.atNextCommit(death.commit!, () => server.signal('SIGKILL')));
    server.arm({ point: death.point.name, passing: death.passing, ask: death.commit !== undefined });
    const laps = isOfStop(death) ? 1 : LAPS;
    for (let lap = 0; lap < laps && !server.isOver; lap++) await this.#lap(strands);
    if (!server.isOver) await this.#stop();
    const died = (await server.ended) === 'SIGKILL';
    const diedAgain = await this.#begin(death.again ? AT_START : undefined);
    return { died, diedAgain, ...(await this.#settle()) };
  }

  /** Some of the records that have come of it, as whoever downloads them sees them. */
  async expectRecordsWhole(count: number): Promise<void> {
    if (this.#server?.isOver !== false) await this.#begin();
    const sealed = await this.database.sql<{ run_id: string; digest: string }>(
      'SELECT run_id, digest FROM records ORDER BY md5(run_id) LIMIT $1',
      [count],
    );
    expect(sealed).toHaveLength(count);
    const folder = mkdtempSync(join(tmpdir(), 'mediator-records-'));
    for (const { run_id, digest } of sealed) {
      const file = join(folder, 'record.tar');
      writeFileSync(file, (await get(`${this.#caller.url}/v1/runs/${run_id}/record`)).bytes);
      expect({ run_id, ...(await verify(file)) }).toMatchObject({ code: 0, lines: [digest, 'OK'] });
    }
    rmSync(folder, { recursive: true });
  }

  async close(): Promise<void> {
    for (const server of [this.#server, this.#next]) server?.signal('SIGKILL');
    this.link.close();
    await this.receiver.close();
    await this.database.drop();
  }

  /** Starts the next server; true where that died on its way, as it was to, and another one was started. */
  async #begin(arm?: Armed): Promise<boolean> {
    this.#server = this.#next ?? new Killable();
    this.#next = undefined;
    const url = await this.#server.start(this.#env, arm);
    if (url === undefined) {
      await this.#begin();
      return true;
    }
    this.#server.disarm();
    this.#caller.url = url;
    return false;
  }

  /** These go on at once, until they are done or the server is gone. */
  async #lap(strands: number[]): Promise<void> {
    const scene: Scene = {
      people: this.#people,
      nodes: this.#nodes,
      database: this.database,
      planted: this.#planted,
      lap: `${this.name}-${++this.#laps}`,
    };
    await this.#whileThere(strands.map((strand) => STRANDS[strand]!(scene)));
  }

  /** A stop by a signal, with a notice in hand that its receiver has not taken. */
  async #stop(): Promise<void> {
    const run_id = `${this.name}-${++this.#laps}-held`;
    const server = this.#server!;
    const inHand = new Promise<void>((resolve) => {
      this.receiver.answer(({ body }) => {
        if (body.run_id === run_id) resolve();
        return undefined;
      });
    });
    const stop = async (): Promise<void> => {
      await this.#nodes.held!.advertise();
      await this.#people.submit({ run_id, requires: [needs('held')], steps: [question('held')] }, 201);
      await within(10, Promise.race([inHand, server.ended]));
      server.signal('SIGTERM');
    };
    await this.#whileThere([stop()]);
    await within(10, server.ended);
    this.receiver.answer(() => 204);
  }

  async #whileThere(doings: Promise<void>[]): Promise<void> {
    const outcomes = await Promise.allSettled(doings);
    const reasons = outcomes.flatMap((one) => (one.status === 'rejected' ? [one.reason as Error] : []));
    const fault = reasons.find((reason) => !(reason instanceof ServerGone));
    if (fault !== undefined) throw fault;
    if (reasons.length > 0) await within(10, this.#server!.ended);
  }

  async #settle(): Promise<Pick<Outcome, 'looked' | 'broken'>> {
    const { database } = this;
    const before = await this.#caller.look();
    const violations = 'SELECT * FROM invariants WHERE NOT (run_id = ANY ($1) AND rule = $2)';
    const planted = [[...this.#planted], 'a run that is over holds no lease'];
    expect(await database.sql(violations, planted)).toEqual([]);
    await expectNobodyStranded(this.#people);
    await this.#caller.askAgain();
    await expectNothingOverdue(database);
    await goOn(database, this.#people, Object.values(this.#nodes));
    await expectAllSettled(database);
    expect(await database.sql('SELECT * FROM invariants')).toEqual([]);
    const after = await this.#caller.look();
    return { looked: after.looked, broken: [...new Set([...before.broken, ...after.broken])] };
  }
}
