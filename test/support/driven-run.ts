import { expect } from '@jest/globals';
import type { Contract } from '../../src/domain/contract/contract.js';
import { type Move, PlayedRun } from '../../src/domain/steps/played-run.fixture.js';
import { answer } from './asks.js';
import type { TestMediator } from './mediator.js';
import type { PlayedClaim, PlayedNode } from './played-node.js';
import { upload } from './uploads.js';

interface Row {
  seq: number;
  state: string;
  attempt: number;
  chosen: boolean;
  branch: string | null;
  node_id: string;
}

/** A run on the server and the same run without one: every move is done on both, and both must then be the same. */
export class DrivenRun {
  model!: PlayedRun;
  #rows: Row[] = [];
  readonly #claims = new Map<number, PlayedClaim>();

  private constructor(
    private readonly server: TestMediator,
    private readonly nodes: ReadonlyMap<string, PlayedNode>,
    readonly runId: string,
  ) {}

  static async submit(
    server: TestMediator,
    nodes: ReadonlyMap<string, PlayedNode>,
    run_id: string,
    contract: Contract,
  ): Promise<DrivenRun> {
    const run = new DrivenRun(server, nodes, run_id);
    expect(await server.send('POST', '/v1/runs', { body: { run_id, ...contract } })).toMatchObject({ status: 201 });
    await run.#read();
    // What an acquire gets is up to the server.
    run.model = new PlayedRun(contract, ({ seq }) => {
      const { state, branch } = run.#rows[seq - 1]!;
      expect({ acquire: seq, state }).toEqual({ acquire: seq, state: 'DONE' });
      return branch === contract.steps[seq - 1]!.acquire!.acquired ? 'some node' : undefined;
    });
    await run.compare();
    return run;
  }

  async do(move: Move): Promise<void> {
    const done = move.kind === 'claim' ? await this.#claim(move.seq) : move;
    if (done.kind === 'report') await this.#report(done);
    if (done.kind === 'answer') {
      expect((await answer(this.server, this.runId, done.seq, done.answer)).status).toBe(200);
    }
    await this.#read();
    this.model.do(done);
    await this.compare();
  }

  /** The node of this step asks for one, and gets the first it can begin. */
  async #claim(seq: number): Promise<Move> {
    const ready = this.model.claimable().map((step) => step.seq);
    const claimed = await this.nodes.get(this.#rows[seq - 1]!.node_id)!.claim();
    expect(claimed.status).toBe(200);
    expect(ready).toContain(claimed.body.seq);
    this.#claims.set(claimed.body.seq, claimed.body);
    return { kind: 'claim', seq: claimed.body.seq };
  }

  async #report({ seq, report, uploads }: Extract<Move, { kind: 'report' }>): Promise<void> {
    const claim = this.#claims.get(seq)!;
    for (const [name, body] of Object.entries(uploads)) {
      expect((await upload(this.server, claim, name, body)).status).toBe(204);
    }
    const reported = await this.nodes.get(claim.lease.node_id)!.report(claim, { ...report });
    expect(reported.status).toBe(200);
  }

  /** The steps that have not ended are cancelled, and no others. */
  async cancel(): Promise<void> {
    await this.server.send('POST', `/v1/runs/${this.runId}/cancel`);
    this.model.cancelSteps();
    await this.#read();
    await this.compareSteps();
  }

  /**
   * Lets its leases run out, and the reaper come by: it ends the run unless that waits for a person. One of which nothing has
   * begun goes back to the queue, and has its nodes again at once.
   */
  async lapse(): Promise<'over' | 'goes on'> {
    const { sql } = this.server.database;
    await sql("UPDATE leases SET not_after = clock_timestamp() - interval '1 second' WHERE run_id = $1", [this.runId]);
    await this.server.reap();
    await sql("UPDATE leases SET not_after = clock_timestamp() + interval '1 hour' WHERE run_id = $1", [this.runId]);
    const [run] = await sql<{ over: boolean }>('SELECT ended_at IS NOT NULL AS over FROM runs WHERE run_id = $1', [
      this.runId,
    ]);
    if (run!.over) this.model.cancelSteps();
    await this.#read();
    await this.compareSteps();
    return run!.over ? 'over' : 'goes on';
  }

  async compare(): Promise<void> {
    await this.compareSteps();
    const [run] = await this.server.database.sql('SELECT state, verdict FROM runs WHERE run_id = $1', [this.runId]);
    const { state = 'RUNNING', verdict } = this.model.ending ?? {};
    expect(run).toMatchObject({ state, verdict: verdict ? { reason: verdict.reason, checks: verdict.checks } : null });
  }

  async compareSteps(): Promise<void> {
    const model = this.model.graph.steps.map(({ seq, state, attempt, chosen, result }) => {
      return { seq, state, attempt, chosen, branch: result?.branch ?? null };
    });
    expect(this.#rows.map(({ node_id: _, ...row }) => row)).toEqual(model);
    expect(await this.server.violations()).toEqual([]);
  }

  async #read(): Promise<void> {
    this.#rows = await this.server.database.sql<Row>(
      `SELECT seq, state, attempt, chosen, result->>'branch' AS branch, node_id
         FROM steps WHERE run_id = $1 ORDER BY seq`,
      [this.runId],
    );
  }
}
