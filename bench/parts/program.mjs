/*
 * The compiled program in this process, for the figures that leave HTTP out: its use cases, called as its controllers call
 * them. The one file that knows what they are called and given.
 */
import { CreateRun } from '../../dist/src/submission/create-run.js';
import { ReportResult } from '../../dist/src/execution/report-result.js';
import { Database } from '../../dist/src/platform/database/database.js';
import { Promote } from '../../dist/src/queue/promote.js';
import { QueueService } from '../../dist/src/queue/queue.service.js';
import { readConfig } from '../../dist/src/platform/config/read-config.js';
import { startMediator } from '../../dist/src/start-mediator.js';
import { assignedTo } from '../reference/bare.mjs';
import { ENVIRONMENT } from './mediator.mjs';

export class Program {
  static async start(url, env = {}) {
    return new Program(await startMediator(readConfig({ ...ENVIRONMENT, DATABASE_URL: url, ...env })));
  }

  constructor(mediator) {
    this.mediator = mediator;
    this.url = mediator.url;
    this.use = {
      create: mediator.app.get(CreateRun),
      promote: mediator.app.get(Promote),
      report: mediator.app.get(ReportResult),
      queue: mediator.app.get(QueueService),
      database: mediator.app.get(Database),
    };
  }

  async create({ run_id, node, kind }) {
    const outcome = await this.use.create.create(
      { run_id, principal: 'bench', ...kind },
      assignedTo(node),
      nodes(node),
    );
    if (outcome.kind !== 'created') throw new Error(`run ${run_id}: ${outcome.kind}`);
  }

  async promote({ run_id, node }) {
    const outcome = await this.use.promote.promote(
      [{ run_id, assigned: assignedTo(node), nodes: nodes(node) }],
      ['result'],
      { serverSteps: false },
    );
    if (outcome.kind !== 'promoted') throw new Error(`run ${run_id}: ${outcome.kind}`);
  }

  async settle({ run_id, node, nonce }) {
    const { run_state } = await this.use.report.report({
      run_id,
      seq: 1,
      node_id: node,
      attempt: 1,
      nonce,
      exit_code: 0,
    });
    if (run_state !== 'SUCCEEDED') throw new Error(`run ${run_id} is ${run_state}`);
  }

  /** A submission over HTTP, of a run that has to wait. */
  async submit(runId, contract) {
    const headers = { 'content-type': 'application/json', 'idempotency-key': runId, 'mediator-principal': 'bench' };
    const answer = await fetch(`${this.url}/v1/runs`, { method: 'POST', headers, body: JSON.stringify(contract) });
    if (answer.status !== 202) throw new Error(`run ${runId}: ${answer.status} ${await answer.text()}`);
  }

  /** One sweep. */
  wake() {
    return this.use.queue.wake('reaper');
  }

  stop() {
    return this.mediator.stop();
  }
}

const nodes = (node) => [{ node_id: node, offer_rev: 1, roles: ['board'] }];
