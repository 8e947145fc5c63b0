import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { startTestMediator, type TestMediator } from '../support/mediator.js';
import { tell, tries } from '../support/storm.js';
import { commands } from './compared/commands.js';
import { ComparedServer } from './compared/compared-server.js';
import { fleets } from './compared/node-commands.js';
import { Model } from './model/model.js';

const SEQUENCES = tries(12, 400);
const LIMIT_MS = tries(100_000, 3_000_000);

describe('whatever is asked of it, one after the other', () => {
  let server: TestMediator;
  beforeAll(async () => {
    server = await startTestMediator({ env: ComparedServer.ENV });
  });
  afterAll(async () => {
    expect(await server.violations()).toEqual([]);
    await server.close();
  });

  it(
    'is answered, done and shown as a plain statement of the rules has it, and every promise is kept after each request',
    async () => {
      let asked = 0;
      const property = fc.asyncProperty(fleets, commands(40), async (fleet, drawn) => {
        const real = new ComparedServer(server);
        await real.clear();
        const model = new Model();
        for (const advert of fleet) await advert.run(model, real);
        await fc.asyncModelRun(() => ({ model, real }), drawn);
        asked += real.asked;
      });
      const checked = await fc.check(property, {
        numRuns: SEQUENCES,
        // Short sequences are what the smaller ones come to; to begin with they are of every length.
        unbiased: true,
        // Nobody waits for the smallest sequence that fails until Jest says nothing but that it took too long.
        interruptAfterTimeLimit: LIMIT_MS,
        markInterruptAsFailure: true,
        includeErrorInReport: true,
      });
      const lost = checked.failed ? 1 : 0;
      tell({ what: 'asked in turn, beside a model', times: checked.numRuns, checked: asked, of: 'answers', lost });
      // Prints the seed, and the path to the smallest sequence that fails: `{ seed, path }` here, `replayPath` in commands.ts.
      await fc.asyncDefaultReportMessage(checked).then((message) => expect(message).toBeUndefined());
    },
    LIMIT_MS * 1.2,
  );
});
