import type { Contract } from '../../../src/domain/contract/contract.js';
import { isOver, type RunState } from '../../../src/domain/states.js';
import type { Answer, Send } from '../../support/http.js';
import type { TestDatabase } from '../../support/database.js';
import type { PlayedClaim } from '../../support/played-node.js';

/** A server that the crowd speaks to. */
export interface CrowdedServer {
  url: string;
  send: Send;
}

/** What many clients know together: what they were told, and what of it cannot be. */
export class Crowd {
  /** Whatever was answered that must not be, or contradicts what was answered before. */
  readonly faults: string[] = [];
  readonly contracts = new Map<string, Contract>();
  readonly over = new Map<string, RunState>();
  readonly claims: PlayedClaim[] = [];
  /** How many processes have spoken for each node by now, at most. */
  readonly processes = new Map<string, number>();
  /** Node and run of every lease that somebody was told of. */
  readonly leases = new Set<string>();
  asked = 0;
  readonly #given = new Map<string, string>();
  readonly #reported = new Set<string>();

  constructor(
    readonly servers: CrowdedServer[],
    readonly database: TestDatabase,
  ) {}

  get open(): string[] {
    return [...this.contracts.keys()].filter((run) => !this.over.has(run));
  }

  /** `allowed`: statuses, those of problems with their code. */
  heed(what: string, { status, body }: Answer, ...allowed: string[]): void {
    this.asked += 1;
    const told = status < 400 ? String(status) : `${status} ${body?.code}`;
    if (!allowed.includes(told)) this.faults.push(`${what}: ${told} ${JSON.stringify(body)}`);
  }

  /** What was said of a run: when it is over it stays so. An answer that says less may have been overtaken by another. */
  hear(run_id: string, state: RunState): void {
    if (!isOver(state)) return;
    const before = this.over.get(run_id) ?? state;
    if (before !== state) this.faults.push(`run ${run_id} was ${before} and is ${state}`);
    this.over.set(run_id, state);
  }

  /**
   * A step is given once in an attempt, by one lease; but to the same named instance again. By another lease it may be given
   * in the same attempt, where nobody was heard of who had the first.
   */
  hearClaim(claim: PlayedClaim, instance: string): void {
    const key = `${keyOf(claim)} by ${claim.lease.nonce}`;
    const by = `${claim.lease.node_id} ${instance}`;
    const before = this.#given.get(key);
    const again = before === by && instance !== '';
    if (before !== undefined && !again) this.faults.push(`step ${key} was given to ${before} and to ${by}`);
    this.#given.set(key, by);
    this.leases.add(`${claim.lease.node_id} ${claim.run_id}`);
    this.claims.push(claim);
  }

  /** Of all reports of an attempt one is taken. */
  hearReport(claim: PlayedClaim): void {
    const key = keyOf(claim);
    if (this.#reported.has(key)) this.faults.push(`two reports of step ${key} were taken`);
    this.#reported.add(key);
  }
}

const keyOf = ({ run_id, seq, attempt }: PlayedClaim): string => `${run_id}/${seq}.${attempt}`;
