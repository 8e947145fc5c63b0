import type { Dice } from '../../../src/domain/steps/dice.fixture.js';
import type { FuzzAnswer } from './send-request.js';
import type { FuzzRequest } from './fuzz-request.js';

const KEPT = 60;
const OVER = ['SUCCEEDED', 'FAILED', 'CANCELLED'];

/** A step that a node was handed, and what it has uploaded since. */
export interface HeldClaim {
  run_id: string;
  seq: number;
  attempt: number;
  out?: string[];
  schema?: Record<string, unknown>;
  lease: { nonce: string; node_id: string };
}

export interface OpenQuestion {
  run_id: string;
  seq: number;
  answerers: string[] | null;
  schema: any;
}

/** The last few of a kind: what is old is mostly over. */
class Recent<T> {
  readonly all: T[] = [];

  add(one: T): void {
    this.all.push(one);
    if (this.all.length > KEPT) this.all.shift();
  }

  pick(dice: Dice): T | undefined {
    return this.all.length === 0 ? undefined : this.all[this.all.length - 1 - dice.roll(this.all.length)];
  }

  /** The newest, more often than not. */
  pickNew(dice: Dice): T | undefined {
    return dice.roll(3) === 0 ? this.pick(dice) : this.all.at(-1 - dice.roll(Math.min(4, this.all.length)));
  }

  remove(one: T): void {
    const at = this.all.indexOf(one);
    if (at >= 0) this.all.splice(at, 1);
  }
}

/** What the server has answered so far: with it a request leads further than to a 404. */
export class Pool {
  readonly runs = new Recent<string>();
  /** Nodes that runs were seen to hold. */
  readonly holding = new Recent<string>();
  readonly ended = new Recent<string>();
  readonly claims = new Recent<HeldClaim>();
  /** Claims whose step or run is over. */
  readonly spent = new Recent<HeldClaim>();
  readonly blobs = new Recent<{ run_id: string; name: string }>();
  readonly logs = new Recent<{ run_id: string; seq: number; name: string; size: number }>();
  readonly tags = new Map<string, string>();
  readonly cursors = new Map<string, Recent<string>>();
  questions: OpenQuestion[] = [];
  /** Runs that are neither over nor known to be. */
  readonly open = new Set<string>();

  harvest(request: FuzzRequest, { status, headers, json }: FuzzAnswer): void {
    if (status >= 300 || request.operationId === undefined) return;
    const tag = headers.etag;
    const path = request.path.split('?', 1)[0]!;
    if (typeof tag === 'string') this.#tag(path, tag);
    if (typeof json?.next === 'string') this.#cursor(request.operationId, json.next);
    switch (request.operationId) {
      case 'submitRun':
      case 'getRun':
      case 'cancelRun':
        return this.#run(json);
      case 'listRuns':
        for (const run of json?.items ?? []) this.#run(run);
        return;
      case 'claimStep':
        return status === 200 ? this.claims.add(json) : undefined;
      case 'listAsks':
        this.questions = json?.items ?? [];
        return;
      case 'reportResult':
      case 'answerAsk':
        return this.#outcome(json);
      case 'uploadOutput':
        return this.#blob(path);
      case 'appendLog':
        return this.#log(request.path, Number(headers['upload-offset']));
    }
  }

  #tag(path: string, tag: string): void {
    this.tags.set(path, tag);
    if (this.tags.size > 10 * KEPT) this.tags.delete(this.tags.keys().next().value!);
  }

  #cursor(operationId: string, cursor: string): void {
    const cursors = this.cursors.get(operationId) ?? new Recent<string>();
    this.cursors.set(operationId, cursors);
    cursors.add(cursor);
  }

  #run(run: any): void {
    if (typeof run?.run_id !== 'string') return;
    this.runs.add(run.run_id);
    if (OVER.includes(run.state)) return this.#over(run.run_id);
    this.open.add(run.run_id);
    for (const { nodes } of run.assigned ?? []) for (const { node_id } of nodes) this.holding.add(node_id);
  }

  #over(runId: string): void {
    this.ended.add(runId);
    this.open.delete(runId);
    for (const claim of this.claims.all.filter((one) => one.run_id === runId)) this.#spend(claim);
  }

  #spend(claim: HeldClaim): void {
    this.claims.remove(claim);
    this.spent.add(claim);
  }

  #outcome(json: any): void {
    if (OVER.includes(json?.run_state)) return this.#over(json.run_id);
    const claim = this.claims.all.find((one) => one.run_id === json?.run_id && one.seq === json?.seq);
    if (claim) this.#spend(claim);
    this.questions = this.questions.filter((one) => one.run_id !== json?.run_id || one.seq !== json?.seq);
  }

  #blob(path: string): void {
    const [, run_id, name] = /^\/v1\/runs\/([^/]+)\/steps\/\d+\/blobs\/([^/]+)$/.exec(path) ?? [];
    if (run_id !== undefined && name !== undefined) this.blobs.add({ run_id, name });
  }

  #log(path: string, size: number): void {
    const [, run_id, seq] = /^\/v1\/runs\/([^/]+)\/steps\/(\d+)\/log/.exec(path) ?? [];
    const name = /[?&]name=([^&]+)/.exec(path)?.[1] ?? 'step';
    const known = this.logs.all.find((log) => log.run_id === run_id && log.seq === Number(seq) && log.name === name);
    if (known !== undefined) known.size = size;
    else if (run_id !== undefined) this.logs.add({ run_id, seq: Number(seq), name, size });
  }
}
