import { Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { Tinypool } from 'tinypool';
import type { Fault } from '../../domain/json/fault-list.js';
import { isLight, isLightContract } from '../../domain/contract/schema/is-light.js';
import { compileOutputSchema } from '../../domain/contract/output-schema.js';
import type { JsonDocument } from '../../domain/json/read-json.js';
import { Config } from '../config/config.js';
import { Problem } from '../http/problem.js';
import { unavailable } from '../http/problem.filter.js';
import { Lifecycle } from '../lifecycle.js';
import { type Judged, judgeContract, type JudgeTask, judgeValue, readOutput } from './judge-task.js';
import { TooManyWaiting, Turns } from './turns.js';
import { workerFile } from './worker-file.js';

/** What the event loop judges itself: some milliseconds' worth. */
const LIGHT_BYTES = 32 * 1024;
const LIGHT_CONTRACT_BYTES = 16 * 1024;
const LIGHT_UNITS = 5_000_000;

const THREADS = 2;
/** Of one caller. What waits of an output lies in the database, what waits of the rest in memory. */
const MOST_WAITING = 64;
const IDLE_MS = 30_000;

/** The meter ends what takes long on any machine alike; this is for what no meter sees, and far beyond what the meter allows. */
const MOST_SECONDS = 30;
/** Values take more room than their text: an empty list, two bytes of it, sixteen and more. */
const LEAST_MIB = 512;
const TIMES_ITS_TEXT = 8;
const LARGEST_TEXT = 256 * 1024 * 1024;

/** Bytes that are read when their turn has come. */
export interface OutputToJudge {
  schema: unknown;
  size: number;
  read: () => Promise<Uint8Array<ArrayBuffer>>;
}

/*
 * Judges contracts, answers and outputs. Whoever wrote a schema, or a value, is not trusted: what is known to take only some
 * milliseconds is judged at once, all else in a thread beside the event loop, which can be ended. There callers take turns.
 */
@Injectable()
export class Judging implements OnModuleInit, OnApplicationShutdown {
  readonly #turns = new Turns({ atOnce: THREADS, mostWaiting: MOST_WAITING });
  #threads: Tinypool | undefined;

  constructor(
    private readonly config: Config,
    private readonly lifecycle: Lifecycle,
  ) {}

  /** The first schema takes a hundred milliseconds, and nobody's request is to take them. */
  onModuleInit(): void {
    compileOutputSchema({ pattern: '\\p{L}' });
    const giveUp = (): void => this.#turns.giveUp(unavailable('the server is stopping'));
    this.lifecycle.graceOver.addEventListener('abort', giveUp, { once: true });
  }

  async onApplicationShutdown(): Promise<void> {
    await this.#threads?.destroy();
  }

  /** What is wrong with what was sent as a contract, or the hash of the contract that it is. */
  async contract(caller: string, sent: JsonDocument): Promise<Judged> {
    const { text, value } = sent;
    if (text.length <= LIGHT_CONTRACT_BYTES && isLightContract(value)) return judgeContract(sent);
    return this.#beside(caller, () => Promise.resolve({ kind: 'contract', text }));
  }

  /** All that is wrong with a person's answer. */
  async answer(caller: string, schema: unknown, value: unknown): Promise<Fault[]> {
    if (isLight(schema) && sizeOf(value) <= LIGHT_BYTES) {
      const { faults, gaveUp } = judgeValue(schema, value, { allErrors: true, units: LIGHT_UNITS });
      if (!gaveUp) return faults;
    }
    return (await this.#beside(caller, () => Promise.resolve({ kind: 'answer', schema, value }))).faults;
  }

  /** The first thing that is wrong with an output. */
  async output(caller: string, { schema, size, read }: OutputToJudge): Promise<Fault[]> {
    if (isLight(schema) && size <= LIGHT_BYTES) {
      const output = readOutput(await read());
      if (!output.ok) return [{ pointer: '', detail: output.detail }];
      const { faults, gaveUp } = judgeValue(schema, output.value, { units: LIGHT_UNITS });
      if (!gaveUp) return faults;
    }
    return (await this.#beside(caller, async () => ({ kind: 'output', schema, bytes: await read() }))).faults;
  }

  async #beside(caller: string, prepare: () => Promise<JudgeTask>): Promise<Judged> {
    try {
      return await this.#turns.take(caller, async () => this.#run(await prepare()));
    } catch (error) {
      if (!(error instanceof TooManyWaiting)) throw error;
      const detail = `${MOST_WAITING} bodies of this caller are already waiting to be judged`;
      throw new Problem('rate_limited', detail, { headers: { 'Retry-After': '1' } });
    }
  }

  async #run(task: JudgeTask): Promise<Judged> {
    const { graceOver } = this.lifecycle;
    const signal = AbortSignal.any([AbortSignal.timeout(MOST_SECONDS * 1000), graceOver]);
    const transferList = task.kind === 'output' ? [task.bytes.buffer as ArrayBuffer] : [];
    try {
      return (await this.#pool().run(task, { signal, transferList })) as Judged;
    } catch (error) {
      if (graceOver.aborted) throw unavailable('the server is stopping');
      if (signal.aborted) return refused(`It takes more than ${MOST_SECONDS} seconds to judge; make it smaller.`);
      if ((error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY') {
        return refused(`It takes more than ${this.#mostMiB()} MiB of memory to judge; make it smaller.`);
      }
      throw error;
    }
  }

  /** Most servers never need it. */
  #pool(): Tinypool {
    return (this.#threads ??= new Tinypool({
      filename: workerFile(),
      minThreads: 0,
      maxThreads: THREADS,
      idleTimeout: IDLE_MS,
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: this.#mostMiB() },
    }));
  }

  #mostMiB(): number {
    const largest = Math.min(this.config.maxBlobBytes, LARGEST_TEXT);
    return Math.max(LEAST_MIB, Math.ceil((TIMES_ITS_TEXT * largest) / (1024 * 1024)));
  }
}

function refused(detail: string): Judged {
  return { faults: [{ pointer: '', detail }] };
}

/** Of the text; without end where it is nested too deep to be written. */
function sizeOf(value: unknown): number {
  try {
    return JSON.stringify(value).length;
  } catch {
    return Infinity;
  }
}
