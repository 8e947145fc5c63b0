import { expect } from '@jest/globals';
import fc from 'fast-check';
import { upload } from '../../support/uploads.js';
import { chosen, doneIn, type Way, WAYS } from '../done-in.js';
import type { Model, ModelClaim } from '../model/model.js';
import { NODES } from '../small-fleet.js';
import { command, type Command, picked } from './command.js';
import type { ComparedServer } from './compared-server.js';

/** Mostly a node asks that has something to do, and as the instance that it is. */
export const claims: fc.Arbitrary<Command> = fc
  .record({
    at: fc.nat({ max: 4 }),
    anyone: fc.constantFrom(false, false, false, false, true),
    as: fc.constantFrom(undefined, undefined, undefined, '', 'i1', 'i2'),
  })
  .map((drawn) =>
    command(`claim ${JSON.stringify(drawn)}`, async (model, real) => {
      const node_id = picked(drawn.anyone ? NODES : busy(model), drawn.at);
      return node_id !== undefined && claim(model, real, node_id, drawn.as);
    }),
  );

async function claim(
  model: Model,
  real: ComparedServer,
  node_id: string,
  instance = model.nodes.get(node_id)?.instance ?? '',
): Promise<void> {
  const wanted = model.claim(node_id, instance);
  const headers: Record<string, string> = instance === '' ? {} : { 'mediator-instance': instance };
  const { status, body } = await real.send('POST', `/v1/nodes/${node_id}/claim?wait=0`, undefined, headers);
  if (typeof wanted === 'number') return void expect(status).toBe(wanted);
  const { run_id, seq, attempt } = wanted;
  expect({ status, body }).toMatchObject({ status: 200, body: { run_id, seq, attempt, lease: { node_id } } });
  real.claims.push(body);
}

/** The nodes that could begin a step. */
function busy(model: Model): string[] {
  const ready = model.inState('RUNNING').flatMap((run) => run.ready().map((step) => run.nodeOf(step)));
  return [...new Set(ready)].filter((node) => node !== '');
}

interface DrawnReport {
  at: number;
  /** Of all claims that there ever were, or of those whose step is under way: where there is none, one is made. */
  any: boolean;
  way: Way;
  choice: number;
  wrong?: 'nonce' | 'attempt' | 'node' | 'exit code';
}

const RIGHT = Array.from({ length: 8 }, () => undefined);

export const reports: fc.Arbitrary<Command> = fc
  .record<DrawnReport>({
    at: fc.nat({ max: 20 }),
    any: fc.constantFrom(false, false, false, true),
    way: fc.constantFrom<Way>(...Array.from({ length: 10 }, () => 'well' as const), 'again', 'again', ...WAYS),
    choice: fc.nat({ max: 2 }),
    wrong: fc.constantFrom(...RIGHT, 'nonce', 'attempt', 'node', 'exit code'),
  })
  .map((drawn) => command(`report ${JSON.stringify(drawn)}`, (model, real) => report(model, real, drawn)));

async function report(
  model: Model,
  real: ComparedServer,
  { at, any, way, choice, wrong }: DrawnReport,
): Promise<void | false> {
  const goesOn = (one: ModelClaim): boolean => model.refusal(one) === undefined;
  const [node] = busy(model);
  if (!any && node !== undefined && !model.claims.some(goesOn)) await claim(model, real, node);
  const held = picked(any ? model.claims : model.claims.filter(goesOn), at);
  if (held === undefined) return false;
  const given = real.claims[model.claims.indexOf(held)];
  const run = model.runs.get(held.run_id)!;
  const spec = run.contract.steps[held.seq - 1]!;
  const done = doneIn(way, spec, choice);
  if (wrong === 'exit code') delete done.report.exit_code;
  const sent: ModelClaim = { ...held };
  if (wrong === 'attempt') sent.attempt += 1;
  if (wrong === 'node') sent.node_id = NODES.find((one) => one !== held.node_id)!;
  const says = done.report.exit_code ?? done.report.error;
  const wanted =
    model.refusal(sent, wrong !== 'nonce') ?? (spec.run && says === undefined ? 'invalid_request' : undefined);
  for (const [name, body] of Object.entries(wanted ? {} : done.uploads)) {
    expect((await upload(real.server, given, name, body)).status).toBe(204);
  }
  const { status, body } = await real.send(
    'POST',
    `/v1/runs/${held.run_id}/steps/${held.seq}/result`,
    { node_id: sent.node_id, attempt: sent.attempt, ...done.report },
    { 'mediator-lease': wrong === 'nonce' ? 'another' : given.lease.nonce },
  );
  if (wanted) return void expect([status, body.code]).toEqual([wanted === 'invalid_request' ? 400 : 409, wanted]);
  const answered = model.move(run, { kind: 'report', seq: held.seq, ...done });
  expect({ status, body }).toMatchObject({ status: 200, body: answered });
}

interface DrawnAnswer {
  at: number;
  choice: number;
  how: 'well' | 'nowhere' | 'badly' | 'unasked';
}

export const answers: fc.Arbitrary<Command> = fc
  .record<DrawnAnswer>({
    at: fc.nat({ max: 20 }),
    choice: fc.nat({ max: 2 }),
    how: fc.constantFrom('well', 'well', 'well', 'well', 'nowhere', 'badly', 'unasked'),
  })
  .map((drawn) => command(`answer ${JSON.stringify(drawn)}`, (model, real) => answer(model, real, drawn)));

async function answer(model: Model, real: ComparedServer, { at, choice, how }: DrawnAnswer): Promise<void | false> {
  const runs = [...model.runs.values()].filter(({ reason }) => reason !== 'unsatisfiable' && reason !== 'too_wide');
  const steps = runs.flatMap((run) => run.contract.steps.map((spec, index) => ({ run, spec, seq: index + 1 })));
  const one = picked(
    steps.filter(({ run, seq }) => run.asked.has(seq) === (how !== 'unasked')),
    at,
  );
  if (one === undefined) return false;
  const { run, spec, seq } = one;
  const given = how === 'badly' ? 'no object' : chosen(spec, choice, how === 'nowhere');
  const { status, body } = await real.send('POST', `/v1/runs/${run.run_id}/steps/${seq}/answer`, given);
  if (how === 'unasked') return void expect([status, body.code]).toEqual([409, 'not_asked']);
  if (how === 'badly') return void expect([status, body.code]).toEqual([422, 'schema_violation']);
  const answered = model.move(run, { kind: 'answer', seq, answer: given });
  expect({ status, body }).toMatchObject({ status: 200, body: answered });
}
