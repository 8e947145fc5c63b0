import type { OperationExamples } from './example.js';

const OVER = { detail: 'run change-4711-ps3 is over: stop the work' };
const NOT_OWN = { detail: 'the token of node rpi-8 may not speak for node rpi-7' };
const STALE = { detail: 'no lease of run change-4711-ps3 has this nonce: stop the work' };
const NOT_CLAIMED = { detail: 'the step is CLAIMED in attempt 2: node rpi-7 has no such claim' };

export const uploadOutput: OperationExamples = {
  request: { image: { summary: 'Any bytes', value: 'the bytes of the image' } },
  problems: {
    invalid_request: { detail: 'the header Mediator-Lease must carry the nonce of the lease' },
    not_found: { detail: 'run change-4711-ps3 has no step 1' },
    forbidden: NOT_OWN,
    run_over: OVER,
    stale_lease: STALE,
    not_claimed: NOT_CLAIMED,
    too_large: { detail: 'an output is at most 10485760 bytes; nothing was stored' },
    schema_violation: {
      detail: 'image does not match its schema in the contract; nothing was stored',
      errors: [{ pointer: '/ok', detail: 'The value must be boolean.' }],
    },
  },
};

export const appendLog: OperationExamples = {
  request: { lines: { summary: 'Lines of a log', value: 'make image\nok\n' } },
  problems: {
    invalid_request: {
      detail: '/offset must be a number of bytes, a whole number from 0',
      errors: [{ pointer: '/offset', detail: 'must be a number of bytes, a whole number from 0' }],
    },
    not_found: { detail: 'run change-4711-ps3 has no step 1' },
    forbidden: NOT_OWN,
    run_over: OVER,
    stale_lease: STALE,
    not_claimed: NOT_CLAIMED,
  },
};
