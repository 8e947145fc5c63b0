import type { Answer } from '../../support/http.js';
import { eventually } from '../../support/eventually.js';
import { type Caller, ServerGone } from './caller.js';
import { advertised, answered, blobKept, claimed, forgotten, heldFor, inState, logKept, reported } from './pledges.js';

/** More than anybody ever waits for the reaper; what has not come by then does not come. */
const LONG = 20;

export interface Contract extends Record<string, unknown> {
  run_id: string;
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** A node as the storm plays it, over the lives of many servers. It always names its instance, so that a lost claim is given again. */
export class FieldNode {
  static #made = 0;
  /** Of those that are played under one name, each is another process. */
  readonly #serial = ++FieldNode.#made;
  #boots = 1;

  constructor(
    private readonly caller: Caller,
    readonly nodeId: string,
  ) {}

  /** Another node, which nobody has heard of yet. */
  newcomer(nodeId: string): FieldNode {
    return new FieldNode(this.caller, nodeId);
  }

  get instance(): string {
    return `${this.nodeId}-${this.#serial}-boot-${this.#boots}`;
  }

  /** Its process was started again: it has forgotten what it was doing. */
  boot(): void {
    this.#boots += 1;
  }

  /** It offers `role=<its name>`. */
  advertise(drain = ''): Promise<Answer> {
    const { nodeId, instance } = this;
    const promised = advertised(nodeId, instance, drain);
    this.caller.forget(promised);
    const capabilities = [{ capability: 'board', attrs: { role: nodeId } }];
    return this.caller.ask({
      method: 'POST',
      path: '/v1/nodes',
      body: { node_id: nodeId, instance, drain, capabilities },
      fine: [200],
      again: [200],
      keeps: () => [promised],
    });
  }

  /** The step that is there, or comes: before long, or there is something wrong. */
  async claim(wait = LONG): Promise<any> {
    const given = await this.#claim(wait, [200]);
    return given.body;
  }

  /** The step that is there, if one is. */
  async tryClaim(): Promise<any> {
    const given = await this.#claim(0, [200, 204]);
    return given.status === 200 ? given.body : undefined;
  }

  #claim(wait: number, fine: number[]): Promise<Answer> {
    const { nodeId, instance } = this;
    return this.caller.ask({
      method: 'POST',
      path: `/v1/nodes/${nodeId}/claim?wait=${wait}`,
      pathAgain: `/v1/nodes/${nodeId}/claim?wait=0`,
      headers: { 'mediator-instance': instance },
      fine,
      again: [200, 204, 409],
      keeps: ({ status, body }) => (status === 200 ? [claimed(body, nodeId, instance)] : []),
    });
  }

  report(claim: any, exitCode = 0): Promise<Answer> {
    return this.caller.ask({
      method: 'POST',
      path: `/v1/runs/${claim.run_id}/steps/${claim.seq}/result`,
      headers: { 'mediator-lease': claim.lease.nonce },
      body: { node_id: this.nodeId, attempt: claim.attempt, exit_code: exitCode },
      fine: [200],
      again: [200, 409],
      keeps: ({ body }) => [
        reported(claim, body.rolled_back ? 'ROLLED_BACK' : body.step_state, exitCode),
        ...inState(claim.run_id, body.run_state),
      ],
    });
  }

  /** It cannot do the step. */
  giveUp(claim: any): Promise<Answer> {
    return this.caller.ask({
      method: 'POST',
      path: `/v1/runs/${claim.run_id}/steps/${claim.seq}/result`,
      headers: { 'mediator-lease': claim.lease.nonce },
      body: { node_id: this.nodeId, attempt: claim.attempt, error: 'no power' },
      fine: [200],
      again: [200, 409],
      keeps: ({ body }) => inState(claim.run_id, body.run_state),
    });
  }

  upload(claim: any, name: string, body: string | Uint8Array, fine = 204): Promise<Answer> {
    const sent = typeof body === 'string' ? bytes(body) : body;
    return this.caller.ask({
      method: 'PUT',
      path: `/v1/runs/${claim.run_id}/steps/${claim.seq}/blobs/${name}?attempt=${claim.attempt}`,
      headers: { 'mediator-lease': claim.lease.nonce, 'content-type': 'application/octet-stream' },
      body: sent,
      fine: [fine],
      again: [fine, 409, 410],
      keeps: ({ status }) => (status === 204 ? [blobKept(claim, name, sent)] : []),
    });
  }

  /** At that offset, or at the end of what is there. */
  log(claim: any, offset: number | undefined, text: string): Promise<Answer> {
    const at = offset === undefined ? '' : `offset=${offset}&`;
    const sent = bytes(text);
    return this.caller.ask({
      method: 'PUT',
      path: `/v1/runs/${claim.run_id}/steps/${claim.seq}/log?${at}attempt=${claim.attempt}`,
      headers: { 'mediator-lease': claim.lease.nonce, 'content-type': 'application/octet-stream' },
      body: sent,
      fine: [204],
      again: [204, 409, 410],
      keeps: ({ headers }) => [logKept(claim, offset ?? Number(headers.get('upload-offset')) - sent.length, sent)],
    });
  }

  /** Does the step: uploads what it promises, and reports that all is well. */
  async work(claim: any): Promise<Answer> {
    // Its log may have been begun before somebody died.
    await this.log(claim, undefined, `done by ${this.nodeId}\n`);
    for (const name of claim.out ?? []) await this.upload(claim, name, '{"ok":true}');
    return this.report(claim);
  }
}

/** People who submit, cancel and answer. */
export class People {
  constructor(private readonly caller: Caller) {}

  /** The run's id is in the contract: what got no answer is sent again. */
  submit(contract: Contract, ...fine: number[]): Promise<Answer> {
    return this.caller.ask({
      method: 'POST',
      path: '/v1/runs',
      body: contract,
      fine,
      again: [200, 201, 202, 422],
      keeps: ({ status: got, body }) => inState(contract.run_id, got === 422 ? 'FAILED' : body.state),
    });
  }

  cancel(runId: string): Promise<Answer> {
    return this.caller.ask({
      method: 'POST',
      path: `/v1/runs/${runId}/cancel`,
      fine: [200],
      again: [200],
      keeps: ({ body }) => inState(runId, body.state),
    });
  }

  /** Answers a question that is asked, or will be before long. */
  async answer(runId: string, seq: number, answer: unknown = { ok: true }): Promise<Answer> {
    await this.until('the question is asked', async () => {
      const { items } = await this.see('/v1/asks?limit=200');
      return items.some((one: any) => one.run_id === runId && one.seq === seq);
    });
    return this.caller.ask({
      method: 'POST',
      path: `/v1/runs/${runId}/steps/${seq}/answer`,
      body: answer,
      fine: [200],
      again: [200, 409],
      keeps: ({ body }) => [answered(runId, seq, answer), ...inState(runId, body.run_state)],
    });
  }

  /** Takes a node out of service. */
  hold(nodeId: string, reason: string): Promise<Answer> {
    this.caller.forget(heldFor(nodeId));
    return this.caller.ask({
      method: 'PUT',
      path: `/v1/nodes/${nodeId}/hold`,
      body: { reason },
      fine: [200],
      again: [200],
      keeps: () => [heldFor(nodeId, reason)],
    });
  }

  /** Puts a node back into service. */
  lift(nodeId: string): Promise<Answer> {
    this.caller.forget(heldFor(nodeId));
    return this.caller.ask({
      method: 'DELETE',
      path: `/v1/nodes/${nodeId}/hold`,
      fine: [200],
      again: [200],
      keeps: () => [heldFor(nodeId)],
    });
  }

  /** Has a node forgotten that is gone. */
  forget(nodeId: string): Promise<Answer> {
    // Any process may speak for it then: which one has is not kept.
    this.caller.forget(advertised(nodeId, '', ''));
    return this.caller.ask({
      method: 'DELETE',
      path: `/v1/nodes/${nodeId}`,
      fine: [204],
      again: [204, 404],
      keeps: () => [forgotten(nodeId)],
    });
  }

  /** Waits for a state that the server brings about; no longer than it is there. */
  async until(what: string, look: () => Promise<boolean>): Promise<void> {
    const seen = await eventually(what, async () => {
      try {
        await this.see('/livez');
        return await look();
      } catch (error) {
        if (error instanceof ServerGone) return error;
        throw error;
      }
    });
    if (seen instanceof ServerGone) throw seen;
  }

  /** What is shown at a place; nothing is promised by it. */
  async see(path: string): Promise<any> {
    return (await this.caller.ask({ method: 'GET', path, fine: [200], again: [200] })).body;
  }
}
