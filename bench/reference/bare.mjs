/*
 * The reference: the same rows by `pg` alone, one named statement for each transaction, without a framework, a matcher or
 * an HTTP server. What somebody could reach who knew beforehand which node each run gets.
 */
import { readFileSync } from 'node:fs';
import pg from 'pg';
import { DERIVED } from '../fill/kinds.mjs';

const text = (name) => readFileSync(new URL(`${name}.sql`, import.meta.url), 'utf8');
const create = text('create')
  .replace('/*, DERIVED */', DERIVED.map(({ name }) => `, ${name}`).join(''))
  .replace('/*, $DERIVED */', () => DERIVED.map((_, index) => `, $${index + 10}`).join(''));
export const STATEMENTS = { create, promote: text('promote'), settle: text('settle') };

export const assignedTo = (node) => [{ as: 'board', nodes: [{ node_id: node, label: `board ${node}` }] }];

export function verdictOf(node) {
  return {
    reason: 'succeeded',
    detail: 'every step that was reached is done',
    by: { kind: 'node', name: node },
    checks: [{ step: 'only', what: 'state', want: 'DONE', got: 'DONE', ok: true }],
  };
}

export const STEPS = [{ seq: 1, id: 'only', kind: 'run', uses: 'board', needs: [], timeout_seconds: null }];

/** A task is `{ run_id, node, kind, nonce }`: which run, on which node, of what kind; the nonce where it is to be settled. */
export class Bare {
  constructor(url, clients) {
    this.pool = new pg.Pool({ connectionString: url, max: clients });
  }

  create({ run_id, node, kind }) {
    const { contract, contract_hash, requires, signature } = kind;
    const assigned = JSON.stringify(assignedTo(node));
    const values = [run_id, JSON.stringify(contract), contract_hash, JSON.stringify(requires), signature, assigned];
    return this.#send('create', [...values, node, 1, JSON.stringify(STEPS), ...DERIVED.map(({ name }) => kind[name])]);
  }

  promote({ run_id, node }) {
    return this.#send('promote', [run_id, JSON.stringify(assignedTo(node)), node, 1, ['result']]);
  }

  async settle({ run_id, node, nonce }) {
    const { rowCount } = await this.#send('settle', [run_id, node, nonce, JSON.stringify(verdictOf(node))]);
    if (rowCount !== 1) throw new Error(`run ${run_id} was not settled`);
  }

  stop() {
    return this.pool.end();
  }

  #send(name, values) {
    return this.pool.query({ name, text: STATEMENTS[name], values });
  }
}
