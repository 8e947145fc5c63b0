import type { Contract } from '../../../src/domain/contract/contract.js';
import type { Dice } from '../../../src/domain/steps/dice.fixture.js';
import type { Answer } from '../../support/http.js';
import type { PlayedClaim } from '../../support/played-node.js';
import { upload } from '../../support/uploads.js';
import { chosen, doneIn, type Way, WAYS } from '../done-in.js';
import { NODES, OFFERS } from '../small-fleet.js';
import type { Crowd, CrowdedServer } from './crowd.js';

/** More runs than these are not under way or waiting at a time: then some are cancelled instead. */
const MOST_OPEN = 25;

/** One of many that speak to the servers at once, as persons and as nodes; what it does next is up to its dice. */
export class Client {
  constructor(
    private readonly crowd: Crowd,
    private readonly dice: Dice,
    private readonly contracts: readonly Contract[],
    private readonly name: string,
  ) {}

  submit(): Promise<void> {
    if (this.crowd.open.length >= MOST_OPEN) return this.cancel();
    const index = this.crowd.contracts.size;
    const contract = this.contracts[index % this.contracts.length]!;
    return this.#submit(`${this.name}-${index}`, contract);
  }

  /** Perhaps while it is being taken for the first time. */
  async repeat(): Promise<void> {
    const run = this.#any([...this.crowd.contracts.keys()].slice(-20));
    if (run !== undefined) await this.#submit(run, this.crowd.contracts.get(run)!);
  }

  async #submit(run_id: string, contract: Contract): Promise<void> {
    this.crowd.contracts.set(run_id, contract);
    const answered = await this.#send('POST', '/v1/runs', { ...contract, run_id });
    // Of two who submit one id the run is whose came first, and that need not be who has thought of it.
    this.crowd.heed(`submit ${run_id}`, answered, '200', '201', '202', '422 unsatisfiable', '422 run_id_taken');
    const { code, principal, state } = answered.body;
    // What is refused for what it asks says of nobody whose it is.
    if (code !== 'unsatisfiable' && (code === 'run_id_taken') === (principal === this.name)) {
      this.crowd.faults.push(`${this.name} submits ${run_id} and is told of ${principal}'s`);
    }
    if (code !== 'run_id_taken') this.crowd.hear(run_id, answered.status === 422 ? 'FAILED' : state);
  }

  async dryRun(): Promise<void> {
    const contract = this.dice.of(this.contracts);
    this.crowd.heed('dry run', await this.#send('POST', '/v1/runs/dry-run', contract), '200', '422 unsatisfiable');
  }

  async cancel(): Promise<void> {
    const run = this.#any(this.dice.roll(4) === 0 ? [...this.crowd.contracts.keys()] : this.crowd.open);
    if (run === undefined) return;
    const answered = await this.#send('POST', `/v1/runs/${run}/cancel`);
    // It may be cancelled before it is there.
    this.crowd.heed(`cancel ${run}`, answered, '200', ...(this.crowd.over.has(run) ? [] : ['404 not_found']));
    if (answered.status === 200) this.crowd.hear(run, answered.body.state);
  }

  /** A node says what it is about: often nothing new. */
  async advertise(): Promise<void> {
    const node_id = this.dice.of(NODES);
    const offers = OFFERS.filter(() => this.dice.roll(4) > 0);
    const drain = this.dice.of(['', '', '', '', '', 'graceful', 'at-boundary']);
    const instance = this.#instanceOf(node_id);
    const answered = await this.#send('POST', '/v1/nodes', { node_id, capabilities: offers, instance, drain });
    this.crowd.heed(`advert of ${node_id}`, answered, '200', '409 stale_instance');
    for (const { run_id } of answered.body.leases ?? []) this.crowd.leases.add(`${node_id} ${run_id}`);
  }

  /** Mostly the process that speaks for the node, sometimes a new one, one that was superseded, or one without a name. */
  #instanceOf(nodeId: string): string {
    const { processes } = this.crowd;
    const last = processes.get(nodeId) ?? 1;
    const process = this.dice.of([last, last, last, last, last, last, last + 1, last - 1, undefined]);
    processes.set(nodeId, Math.max(last, process ?? 0));
    return process === undefined ? '' : `i${process}`;
  }

  /** A person takes a node out of service, or puts one back: the Mediator itself takes out who fails too often. */
  async hold(): Promise<void> {
    const path = `/v1/nodes/${this.dice.of(NODES)}/hold`;
    const answered = await (this.dice.roll(3) === 0
      ? this.#send('PUT', path, { reason: 'loud' })
      : this.#send('DELETE', path));
    this.crowd.heed(path, answered, '200', '404 not_found');
  }

  async claim(): Promise<void> {
    const node_id = this.dice.of(NODES);
    const instance = this.#instanceOf(node_id);
    const headers: Record<string, string> = instance === '' ? {} : { 'mediator-instance': instance };
    const answered = await this.#send('POST', `/v1/nodes/${node_id}/claim?wait=0`, undefined, headers);
    this.crowd.heed(`claim of ${node_id}`, answered, '200', '204', '409 stale_instance');
    if (answered.status === 200) this.crowd.hearClaim(answered.body, instance);
  }

  /** Of a claim that somebody was given, lately or long ago; others may report it at the same time. */
  report(): Promise<void> {
    const claim = this.#any(this.dice.roll(5) === 0 ? this.crowd.claims : this.crowd.claims.slice(-8));
    if (claim === undefined) return this.claim();
    return this.finish(claim, this.dice.of<Way>(['well', 'well', 'well', 'well', 'well', 'again', ...WAYS]));
  }

  async finish(claim: PlayedClaim, way: Way): Promise<void> {
    const { run_id, seq, attempt, lease } = claim;
    const spec = this.crowd.contracts.get(run_id)!.steps[seq - 1]!;
    const { report, uploads } = doneIn(way, spec, this.dice.roll(3));
    const what = `step ${run_id}/${seq}.${attempt}`;
    for (const [name, body] of Object.entries(uploads)) {
      const uploaded = await upload(this.#server(), claim, name, body, { attempt });
      this.crowd.heed(`upload of ${what}`, uploaded, '204', '409 stale_lease', '409 not_claimed', '410 run_over');
    }
    const answered = await this.#send(
      'POST',
      `/v1/runs/${run_id}/steps/${seq}/result`,
      { node_id: lease.node_id, attempt, ...report },
      { 'mediator-lease': lease.nonce },
    );
    this.crowd.heed(`report of ${what}`, answered, '200', '409 stale_lease', '409 not_claimed');
    if (answered.status !== 200) return;
    this.crowd.hearReport(claim);
    this.crowd.hear(run_id, answered.body.run_state);
  }

  async answer(how: 'as it comes' | 'well' = 'as it comes'): Promise<void> {
    const asks = await this.#send('GET', '/v1/asks?limit=200');
    this.crowd.heed('inbox', asks, '200');
    const ask = this.#any<{ run_id: string; seq: number }>(asks.body.items);
    if (ask === undefined) return;
    const { run_id, seq } = ask;
    const nowhere = how !== 'well' && this.dice.roll(15) === 14;
    const given = chosen(this.crowd.contracts.get(run_id)!.steps[seq - 1]!, this.dice.roll(3), nowhere);
    const answered = await this.#send('POST', `/v1/runs/${run_id}/steps/${seq}/answer`, given);
    this.crowd.heed(`answer of ${run_id}/${seq}`, answered, '200', '409 not_asked');
    if (answered.status === 200) this.crowd.hear(run_id, answered.body.run_state);
  }

  /** Looks at the queue, the fleet, a run or its record: nobody who looks sees what cannot be. */
  async look(): Promise<void> {
    const run = this.#any([...this.crowd.contracts.keys()]);
    const over = run !== undefined && this.crowd.over.has(run);
    const queue = await this.#send('GET', '/v1/queue?limit=200');
    this.crowd.heed('queue', queue, '200');
    const positions: number[] = queue.body.items.map((one: any) => one.waiting.position);
    // One that has gone while the page was read leaves its place to the next.
    if (positions.some((position, at) => position < (positions[at - 1] ?? 1))) {
      this.crowd.faults.push(`the positions in the queue are ${positions.join(', ')}`);
    }
    this.crowd.heed('nodes', await this.#send('GET', '/v1/nodes'), '200');
    if (run === undefined || !over) return;
    const shown = await this.#send('GET', `/v1/runs/${run}`);
    this.crowd.heed(`run ${run}`, shown, '200');
    if (shown.body.state !== this.crowd.over.get(run))
      this.crowd.faults.push(`run ${run} is ${shown.body.state} again`);
    this.crowd.heed(`record of ${run}`, await this.#send('GET', `/v1/runs/${run}/record`), '200', '409 not_sealed');
  }

  #server(): CrowdedServer {
    return this.dice.of(this.crowd.servers);
  }

  #send(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    const sent = { ...headers, 'mediator-principal': this.name };
    return this.#server().send(method, path, { ...(body !== undefined && { body }), headers: sent });
  }

  #any<T>(from: readonly T[]): T | undefined {
    return from.length === 0 ? undefined : this.dice.of(from);
  }
}
