import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Contract } from '../../src/domain/contract/contract.js';
import { contracts } from '../../src/domain/steps/contract-arbitrary.fixture.js';
import { Dice, rolls } from '../../src/domain/steps/dice.fixture.js';
import { nextMove } from '../../src/domain/steps/random-moves.fixture.js';
import { DrivenRun } from '../support/driven-run.js';
import { startTestMediator, type TestMediator } from '../support/mediator.js';
import type { PlayedNode } from '../support/played-node.js';

/** `DATABASE_PROPERTY_RUNS=5000` for a long look. */
const numRuns = Number(process.env.DATABASE_PROPERTY_RUNS ?? 40);

describe('any run of any contract', () => {
  let server: TestMediator;
  const nodes = new Map<string, PlayedNode>();
  let runs = 0;
  beforeAll(async () => {
    // Nodes fail here as the dice have it: none is to be taken out of service for it.
    server = await startTestMediator({ env: { MEDIATOR_QUARANTINE_AFTER: '0' } });
    for (const role of ['a', 'b', 'c', 'd', 'e', 'f', 'x', 'y']) {
      const node = server.node(`node-${role}`, [{ role }]);
      await node.advertise(role === 'y' ? { drain: 'graceful' } : {});
      nodes.set(node.nodeId, node);
    }
  });
  afterAll(() => server.close());

  const play = async (contract: Contract, drawn: number[]): Promise<void> => {
    const dice = new Dice(drawn);
    const run = await DrivenRun.submit(server, nodes, `run-${++runs}`, contract);
    try {
      for (let over = false; !over && run.model.ending === undefined;) {
        const incident = dice.roll(50);
        if (incident === 49) {
          await run.cancel();
          over = true;
        } else if (incident === 48) {
          over = (await run.lapse()) === 'over';
        } else {
          const move = nextMove(run.model, dice);
          expect(move).toBeDefined();
          await run.do(move!);
        }
      }
    } finally {
      // A run that went wrong must not stand in the way of the next.
      await server.send('POST', `/v1/runs/${run.runId}/cancel`);
    }
    await server.reap();
    expect(await server.violations()).toEqual([]);
    expect(await server.database.sql('SELECT * FROM leases')).toEqual([]);
    expect(await server.database.sql('SELECT run_id FROM records WHERE digest IS NULL')).toEqual([]);
  };

  it(
    'ends, goes as it goes without a database, breaks no promise on the way, and is sealed',
    async () => {
      await fc.assert(fc.asyncProperty(contracts({ maxSteps: 12 }), rolls(), play), {
        numRuns,
        endOnFailure: true,
      });
    },
    Math.max(60_000, numRuns * 2_000),
  );
});
