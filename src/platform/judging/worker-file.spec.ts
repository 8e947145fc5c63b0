import { expect, it } from '@jest/globals';
import { workerFile } from './worker-file.js';

it('is the compiled file, wherever it is asked from', () => {
  expect(workerFile('/app/dist/src/platform/judging/worker-file.js')).toBe(
    '/app/dist/src/platform/judging/judge-worker.js',
  );
  expect(workerFile('/src/app/src/platform/judging/worker-file.ts')).toBe(
    '/src/app/dist/src/platform/judging/judge-worker.js',
  );
});
