import type { Dice } from '../../../src/domain/steps/dice.fixture.js';
import type { FuzzRequest } from './fuzz-request.js';
import { spellable, toText } from './odd-values.js';
import type { Plan } from './plans.js';
import type { HeldClaim, Pool } from './pool.js';

/** Nodes that advertise what the contracts want: one of each role, and three that are all of them. */
const ROLES = ['a', 'b', 'c', 'd', 'e', 'f', 'x', 'y'];
const NODES = [...ROLES, 'all1', 'all2', 'all3'].map((name) => `n-${name}`);
/** With more runs than these under way, submissions become cancels: a long queue makes every request slow. */
const MOST_OPEN = 40;

/** The parts of a request before they are put together; `query` may say a name twice. */
interface Draft {
  path: Record<string, string>;
  query: [string, string][];
  headers: Record<string, string>;
  body?: Buffer;
}

/** What of a plan can be valid now, with ids, nonces, tags and cursors that the server has answered. */
export function validRequest(plan: Plan, pool: Pool, dice: Dice): FuzzRequest {
  const { path: template, method } = plan.operation;
  const draft: Draft = { path: {}, query: [], headers: {} };
  for (const parameter of plan.operation.operation.parameters) addParameter(parameter, plan, pool, dice, draft);
  if (plan.body !== undefined) {
    draft.headers['content-type'] = 'application/json';
    draft.body = Buffer.from(toText(plan.body));
  }
  fill[plan.operationId]?.(draft, pool, dice, plan);
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(draft.path[name] ?? ''));
  const query = draft.query.map((pair) => pair.map(encodeURIComponent).join('=')).join('&');
  return {
    operationId: plan.operationId,
    method: method.toUpperCase(),
    path: query === '' ? path : `${path}?${query}`,
    headers: draft.headers,
    body: draft.body,
    mutations: [],
  };
}

function addParameter({ in: place, name, required }: any, plan: Plan, pool: Pool, dice: Dice, draft: Draft): void {
  const value = plan.values[`${place} ${name}`];
  const text = typeof value === 'string' ? wellFormed(value) : String(value);
  if (place === 'path') draft.path[name] = name === 'run_id' ? (pool.runs.pick(dice) ?? 'none') : text || 'none';
  else if (name === 'cursor') addCursor(draft, pool.cursors.get(plan.operationId)?.pick(dice), dice);
  else if (!required && dice.roll(4) > 0) return;
  else if (place === 'query') draft.query.push([name, text]);
  // What else a header may say is up to the mutations: node sends nothing but Latin letters in it.
  else if (/^[\x21-\x7e]+$/.test(text)) draft.headers[name.toLowerCase()] = text;
}

function addCursor(draft: Draft, cursor: string | undefined, dice: Dice): void {
  if (cursor !== undefined && dice.roll(2) === 0) draft.query.push(['cursor', cursor]);
}

function wellFormed(text: string): string {
  return spellable(text).replaceAll('\0', '');
}

let submissions = 0;

const processes = new Map<string, number>();

/** Mostly the process that speaks for the node; at times a new one, or one that was superseded. */
function instanceOf(nodeId: string, dice: Dice): string {
  const last = processes.get(nodeId) ?? 1;
  const process = dice.roll(40) === 0 ? dice.of([last + 1, last - 1]) : last;
  processes.set(nodeId, Math.max(last, process));
  return `boot-${nodeId}-${process}`;
}

const fill: Record<string, (draft: Draft, pool: Pool, dice: Dice, plan: Plan) => void> = {
  submitRun(draft, pool, dice) {
    draft.headers['mediator-principal'] = dice.of(['ann', 'bob', 'ci']);
    if (dice.roll(8) === 0) draft.headers['idempotency-key'] = pool.runs.pick(dice) ?? 'again';
    else draft.headers['idempotency-key'] = `f-${process.pid}-${++submissions}`;
  },
  cancelRun(draft, pool, dice) {
    if (dice.roll(2) === 0) [draft.body, draft.headers] = [undefined, without(draft.headers, 'content-type')];
    const oldest = pool.open.values().next().value;
    if (pool.open.size > MOST_OPEN / 2 && oldest !== undefined) draft.path.run_id = oldest;
  },
  getRun(draft, pool, dice) {
    const tag = pool.tags.get(`/v1/runs/${draft.path.run_id}`);
    if (tag !== undefined && dice.roll(2) === 0)
      draft.headers['if-none-match'] = dice.of([tag, `W/${tag}`, '*', `"x", ${tag}`]);
  },
  listRuns(draft, _pool, dice) {
    if (dice.roll(3) === 0) draft.query.push(['limit', dice.of(['1', '2', '200'])]);
    if (dice.roll(3) === 0) draft.query.push(['node_id', dice.of(NODES)]);
    draft.query = uniqueNames(draft.query);
  },
  listNodes(draft, pool, dice) {
    draft.query = uniqueNames(dice.roll(2) === 0 ? [] : draft.query);
    const tag = pool.tags.get('/v1/nodes');
    if (tag !== undefined && dice.roll(2) === 0) draft.headers['if-none-match'] = tag;
  },
  getQueue: (draft) => void (draft.query = uniqueNames([['limit', '1'], ...draft.query])),
  downloadRecord(draft, pool, dice) {
    draft.path.run_id = pool.ended.pick(dice) ?? draft.path.run_id!;
    const tag = pool.tags.get(`/v1/runs/${draft.path.run_id}/record`);
    if (tag !== undefined && dice.roll(2) === 0) draft.headers['if-none-match'] = tag;
  },
  downloadBlob(draft, pool, dice) {
    const blob = pool.blobs.pick(dice);
    if (blob) draft.path = { ...blob };
    const tag = pool.tags.get(`/v1/runs/${draft.path.run_id}/blobs/${draft.path.name}`);
    if (dice.roll(2) === 0)
      draft.headers.range = dice.of(['bytes=0-0', 'bytes=1-', 'bytes=-1', 'bytes=0-99', 'bytes=9999-']);
    if (tag !== undefined && dice.roll(3) === 0) draft.headers[dice.of(['if-none-match', 'if-range'])] = tag;
  },
  readLog(draft, pool, dice) {
    const log = pool.logs.pickNew(dice);
    if (log === undefined) return;
    draft.path = { run_id: log.run_id, seq: String(log.seq) };
    draft.query = [['name', log.name]];
    delete draft.headers.prefer;
    delete draft.headers.range;
    const whatComesNext = `bytes=${log.size}-`;
    if (dice.roll(3) > 0) {
      draft.headers.range = dice.of([whatComesNext, whatComesNext, 'bytes=0-', 'bytes=1-2', 'bytes=9999999-']);
      if (dice.roll(3) > 0) draft.headers.prefer = 'wait=0';
    }
  },
  advertiseNode(draft, _pool, dice, plan) {
    if (dice.roll(5) === 0) return rename(draft, plan, dice);
    const node_id = dice.of(NODES);
    const roles = node_id.startsWith('n-all') ? ROLES : [node_id.slice(2)];
    const capabilities = roles.map((role) => ({ capability: 'board', attrs: { role } }));
    const drain = dice.roll(8) === 0 ? dice.of(['graceful', 'at-boundary']) : '';
    const advert = { node_id, capabilities, drain, instance: instanceOf(node_id, dice) };
    draft.body = Buffer.from(JSON.stringify(advert));
  },
  getNode: (draft, _pool, dice) => void (draft.path.node_id = dice.of([dice.of(NODES), bystander(dice)])),
  // The others are needed: what is held or forgotten does no work.
  holdNode: (draft, _pool, dice) => void (draft.path.node_id = bystander(dice)),
  liftHold: (draft, _pool, dice) => void (draft.path.node_id = bystander(dice)),
  forgetNode: (draft, _pool, dice) => void (draft.path.node_id = bystander(dice)),
  claimStep(draft, pool, dice) {
    draft.path.node_id = (dice.roll(4) > 0 && pool.holding.pickNew(dice)) || dice.of(NODES);
    draft.query = [['wait', '0']];
    draft.headers['mediator-instance'] = instanceOf(draft.path.node_id, dice);
  },
  reportResult(draft, pool, dice) {
    const claim = claimOf(draft, pool, dice);
    if (claim === undefined) return;
    const failed = dice.roll(8) === 0;
    const report = { node_id: claim.lease.node_id, attempt: claim.attempt, exit_code: failed ? 1 : 0 };
    draft.body = Buffer.from(JSON.stringify(dice.roll(16) === 0 ? { ...report, error: 'lost' } : report));
  },
  uploadOutput(draft, pool, dice) {
    const claim = claimOf(draft, pool, dice);
    draft.path.name = dice.of(claim?.out ?? ['o1', 'extra']);
    draft.query = claim ? [['attempt', String(claim.attempt)]] : [];
    draft.headers['content-type'] = dice.of([
      'application/json',
      'text/plain',
      'image/png',
      'application/octet-stream',
    ]);
    const judged = claim?.schema !== undefined && dice.roll(4) > 0;
    draft.body = Buffer.from(
      judged ? '{"ok":true,"next":"s2"}' : dice.of(['{"next":"s2"}', 'bytes', '', '\xff\0']),
      'latin1',
    );
  },
  appendLog(draft, pool, dice) {
    claimOf(draft, pool, dice);
    draft.query = dice.of<[string, string][]>([[], [['name', 'trace']], [['offset', '0']], [['offset', '99999999']]]);
    draft.body = Buffer.from('a line\n'.repeat(dice.roll(20)));
  },
  answerAsk(draft, pool, dice) {
    const question = pool.questions[dice.roll(Math.max(1, pool.questions.length))];
    if (question === undefined) return;
    draft.path = { run_id: question.run_id, seq: String(question.seq) };
    draft.headers['mediator-principal'] = dice.of([
      ...(question.answerers ?? ['ann']),
      ...(question.answerers ?? []),
      'eve',
    ]);
    draft.body = Buffer.from(JSON.stringify(dice.of([{ ok: true, next: 's2' }, { ok: true }, { ok: 'yes' }])));
  },
};

/** Takes the step that a node was handed, sometimes one that is over. */
function claimOf(draft: Draft, pool: Pool, dice: Dice): HeldClaim | undefined {
  const claim = (dice.roll(8) === 0 ? pool.spent : pool.claims).pickNew(dice) ?? pool.spent.pickNew(dice);
  if (claim === undefined) return undefined;
  draft.path = { ...draft.path, run_id: claim.run_id, seq: String(claim.seq) };
  draft.headers['mediator-lease'] = claim.lease.nonce;
  return claim;
}

/** An advert as the document allows it, by one of few nodes: each is a row, and matched with every submission. */
function rename(draft: Draft, plan: Plan, dice: Dice): void {
  draft.body = Buffer.from(toText({ ...(plan.body as object), node_id: bystander(dice) }));
}

function bystander(dice: Dice): string {
  return `z${dice.roll(20)}`;
}

/** A submission becomes a cancel where enough runs are under way. */
export function isCrowded(pool: Pool): boolean {
  return pool.open.size > MOST_OPEN;
}

function without(headers: Record<string, string>, name: string): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([key]) => key !== name));
}

function uniqueNames(query: [string, string][]): [string, string][] {
  return [...new Map(query)];
}
