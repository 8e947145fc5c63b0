/** What the answer to the question must be. */
export const APPROVAL = { type: 'object', required: ['ok'], properties: { ok: { type: 'boolean' } } };

/** A change is built, a person looks at it, and it is flashed. The advert that is an example can do all of it by itself. */
export const BUILD_AND_FLASH = {
  run_id: 'change-4711-ps3',
  work: { system: 'gerrit', change_id: '4711', patchset: 3 },
  requires: [
    { as: 'builder', capability: 'build', attrs: { arch: 'arm64' } },
    { as: 'board', capability: 'board', attrs: { soc: 'bcm2712' } },
  ],
  steps: [
    { id: 'build', uses: 'builder', run: ['make', 'image'], out: ['image'] },
    {
      id: 'approve',
      ask: { prompt: 'Flash the image?', show: ['image'] },
      out: ['approval'],
      schema: { approval: APPROVAL },
    },
    { id: 'flash', uses: 'board', run: ['flash', 'image'], in: ['image'] },
  ],
  success_when: [{ step: 'flash', exit_code: 0 }],
};

/** The least there is. */
export const ONE_STEP = {
  requires: [{ as: 'board', capability: 'board' }],
  steps: [{ id: 'test', uses: 'board', run: ['make', 'test'] }],
};
