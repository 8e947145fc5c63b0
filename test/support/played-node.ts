import type { Answer, Send } from './http.js';

/** A claim as the server answers it; tests read what they need of it. */
export type PlayedClaim = any;

/** A node as a test plays it: it says what it offers, claims steps and reports them, over HTTP. */
export class PlayedNode {
  /** Sent with adverts and claims; undefined: the node names none. */
  instance: string | undefined;

  constructor(
    private readonly send: Send,
    readonly nodeId: string,
    private readonly attrs: Record<string, string>[],
  ) {}

  /** One entry of the capability `board` for each set of attributes the node was made with, and whatever `more` says. */
  advertise(more: Record<string, unknown> = {}): Promise<Answer> {
    const capabilities = this.attrs.map((attrs) => ({ capability: 'board', attrs }));
    const instance = this.instance === undefined ? {} : { instance: this.instance };
    return this.send('POST', '/v1/nodes', { body: { node_id: this.nodeId, capabilities, ...instance, ...more } });
  }

  /** Asks for a step; does not wait unless told to. */
  claim(wait = 0, signal?: AbortSignal): Promise<Answer<PlayedClaim>> {
    const headers: Record<string, string> = this.instance === undefined ? {} : { 'mediator-instance': this.instance };
    return this.send('POST', `/v1/nodes/${this.nodeId}/claim?wait=${wait}`, { headers, signal });
  }

  /** Reports a claimed step; exit code 0 unless told otherwise. */
  report(claim: PlayedClaim, result: Record<string, unknown> = { exit_code: 0 }): Promise<Answer> {
    return this.send('POST', `/v1/runs/${claim.run_id}/steps/${claim.seq}/result`, {
      headers: { 'mediator-lease': claim.lease.nonce },
      body: { node_id: this.nodeId, attempt: claim.attempt, ...result },
    });
  }

  /** Claims the next step, which must be there, and reports it. Gives the answer to the report. */
  async work(result?: Record<string, unknown>): Promise<Answer> {
    const claimed = await this.claim();
    if (claimed.status !== 200) throw new Error(`node ${this.nodeId} was given no step: ${claimed.status}`);
    return this.report(claimed.body, result);
  }
}
