/*
 * Changes of one line, by the room of the line, each with the spec that fails without it: `npm run test:mutants` makes them.
 * `take` stands in `file` exactly once and is replaced by `put`; `test` narrows the spec down to the tests of that name.
 */
import asks from './asks.mjs';
import execution from './execution.mjs';
import fleet from './fleet.mjs';
import leases from './leases.mjs';
import nodes from './nodes.mjs';
import platform from './platform.mjs';
import queue from './queue.mjs';
import reaper from './reaper.mjs';
import records from './records.mjs';
import runs from './runs.mjs';
import steps from './steps.mjs';
import submission from './submission.mjs';

export const ROOMS = {
  platform,
  records,
  fleet,
  leases,
  steps,
  queue,
  runs,
  submission,
  nodes,
  execution,
  asks,
  reaper,
};
