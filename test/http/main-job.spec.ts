import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { R } from '../support/contracts.js';
import { startTestMediator, type TestMediator } from '../support/mediator.js';

describe('the main job', () => {
  let server: TestMediator;
  beforeAll(async () => {
    server = await startTestMediator();
  });
  afterEach(async () => {
    expect(await server.violations()).toEqual([]);
  });
  afterAll(() => server.close());

  it('B1 the last result of the run that holds the node promotes the oldest that waits for it', async () => {
    const n1 = server.node('N1', [{ role: 'x' }]);
    await n1.advertise();
    const submit = async (run_id: string) =>
      (await server.send('POST', '/v1/runs', { body: R('x', { run_id }) })).status;
    expect([await submit('a'), await submit('b'), await submit('c')]).toEqual([201, 202, 202]);

    expect((await n1.work()).body).toMatchObject({ run_id: 'a', step_state: 'DONE', run_state: 'SUCCEEDED' });

    expect((await server.send('GET', '/v1/runs/b')).body.state).toBe('RUNNING');
    expect((await server.send('GET', '/v1/runs/c')).body.state).toBe('QUEUED');
    expect((await n1.claim()).body).toMatchObject({ run_id: 'b', seq: 1 });
  });
});
