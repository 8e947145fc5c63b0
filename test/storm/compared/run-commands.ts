import { expect } from '@jest/globals';
import fc from 'fast-check';
import type { Contract } from '../../../src/domain/contract/contract.js';
import { contendedContracts } from '../contended-contracts.js';
import { CAP, type Model } from '../model/model.js';
import { naiveMatch, widthOf } from '../../../src/domain/matching/naive-match.fixture.js';
import { command, type Command, picked } from './command.js';
import type { ComparedServer } from './compared-server.js';

async function submit(model: Model, real: ComparedServer, run_id: string, contract: Contract): Promise<void> {
  const wanted = model.submit(run_id, contract);
  const { status, body } = await real.send('POST', '/v1/runs', { ...contract, run_id });
  const { state, reason } = model.runs.get(run_id)!;
  const what = wanted === 422 ? body.code : body.state;
  expect([run_id, status, what, body.errors]).toEqual([run_id, wanted, wanted === 422 ? reason : state, undefined]);
}

export const submissions: fc.Arbitrary<Command> = contendedContracts().map((contract) =>
  command(`submit ${JSON.stringify(contract)}`, (model, real) =>
    submit(model, real, `run-${model.runs.size + 1}`, contract),
  ),
);

const which = fc.nat({ max: 20 });

export const repetitions: fc.Arbitrary<Command> = which.map((at) =>
  command(`submit again ${at}`, async (model, real) => {
    const run = picked([...model.runs.values()], at);
    return run !== undefined && submit(model, real, run.run_id, run.contract);
  }),
);

/** What exists, never what is free. */
export const dryRuns: fc.Arbitrary<Command> = contendedContracts().map((contract) =>
  command(`dry run ${JSON.stringify(contract)}`, async (model, real) => {
    const found = naiveMatch(contract, model.existing(), CAP);
    const wanted = found && widthOf(found) <= CAP ? [200, found] : [422, undefined];
    const { status, body } = await real.send('POST', '/v1/runs/dry-run', contract);
    const assigned = body.assigned?.map((role: any) => role.nodes.map((one: any) => one.node_id));
    expect([status, assigned]).toEqual(wanted);
  }),
);

/** Mostly of a run that is not over. */
export const cancels: fc.Arbitrary<Command> = fc
  .record({ at: which, any: fc.constantFrom(false, false, true) })
  .map(({ at, any }) =>
    command(`cancel ${any ? 'any' : 'one that goes on or waits'}, ${at}`, async (model, real) => {
      const run = picked(
        [...model.runs.values()].filter(({ reason }) => any || reason === null),
        at,
      );
      const { status, body } = await real.send('POST', `/v1/runs/${run?.run_id ?? 'nobody'}/cancel`);
      if (run) model.cancel(run);
      expect([status, body.state]).toEqual(run ? [200, run.state] : [404, undefined]);
    }),
  );
