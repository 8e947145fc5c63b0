import type { Contract } from './contract.js';

/** The example of the contract's description. */
export const EXAMPLE: Contract = {
  run_id: 'change-4711-ps3',
  work: { system: 'gerrit', change_id: '4711', patchset: 3 },
  requires: [
    { as: 'builder', capability: 'build', attrs: { arch: 'arm64' } },
    { as: 'board', capability: 'board', attrs: { soc: 'bcm2712' } },
  ],
  steps: [
    {
      id: 'build',
      uses: 'builder',
      run: ['make', 'image'],
      out: ['image'],
      timeout_seconds: 1800,
      release: ['builder'],
    },
    { id: 'flash', uses: 'board', run: ['flash', 'image'], in: ['image'] },
    {
      id: 'look',
      ask: { prompt: 'Does the LED blink?', answerers: ['lab-desk'], timeout_seconds: 86400 },
      out: ['verdict'],
      schema: { verdict: { type: 'object', required: ['ok'], properties: { ok: { type: 'boolean' } } } },
    },
  ],
  success_when: [{ step: 'flash', exit_code: 0 }],
};

/** Uses every field there is. */
export const EVERYTHING: Contract = {
  version: 1,
  run_id: 'a.b:c@d+e-f_G',
  work: { system: 'gerrit', change_id: 'I4711', '': { deep: [null, 1e300, '😀'] } },
  requires: [
    { as: 'a', capability: 'build', count: 64, attrs: { node_id: 'n-1', 'os.version': '' } },
    { as: 'b', capability: 'board' },
  ],
  spread: true,
  steps: [
    { id: 'make', uses: 'a', run: ['make', ''], env: ['PATH'], timeout_seconds: 604800, out: ['log', 'log.next'] },
    { id: 'test', uses: 'a', run: ['test'], allow_failure: true, needs: ['make'], in: ['log'], out: [] },
    {
      id: 'retry',
      uses: 'a',
      run: ['retry'],
      allow_failure: true,
      out: ['report'],
      loop: { back_to: 'test', max: 100, until: { exit_code: 3, produced: ['report'] } },
    },
    {
      id: 'think',
      uses: 'b',
      agent: {},
      out: ['plan'],
      schema: { plan: true },
      dispatch: { from: 'plan.next.step', to: ['x', 'y'] },
    },
    { id: 'x', uses: 'b', run: ['x'] },
    { id: 'y', uses: 'b', run: ['y'] },
    { id: 'join', uses: 'a', run: ['join'], needs: ['x', 'y'], release: ['a', 'b'] },
    {
      id: 'more',
      acquire: {
        want: { as: 'c', capability: 'board', count: 1, attrs: { soc: 'bcm2712' } },
        acquired: 'have',
        unavailable: 'lack',
      },
    },
    { id: 'have', uses: 'c', agent: { any: { thing: [1] } } },
    {
      id: 'lack',
      ask: {
        prompt: 'And now?',
        show: ['report'],
        answerers: ['lab-desk'],
        timeout_seconds: 31536000,
        default: {},
      },
      out: ['answer'],
      schema: { answer: { $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'object' } },
    },
    { id: 'end', uses: 'c', run: ['end'], needs: ['have', 'lack'], release: ['c'] },
  ],
  success_when: [
    { step: 'retry', exit_code: 3, produced: ['report'] },
    { step: 'lack', produced: ['answer'] },
  ],
};
