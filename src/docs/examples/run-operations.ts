import { BUILD_AND_FLASH, ONE_STEP } from './contracts.js';
import { ASSIGNED, CANCELLED, QUEUED, QUEUED_SUMMARY, RUNNING, SUCCEEDED, SUCCEEDED_SUMMARY } from './example-runs.js';
import { type OperationExamples, PARAMETERS } from './example.js';
import { PROBLEM_DETAILS } from './problem-details.js';

const contract = {
  build_and_flash: { summary: 'Build, ask, flash', value: BUILD_AND_FLASH },
  one_step: { summary: 'The least there is', value: ONE_STEP },
};
const NOT_JSON = { detail: "the body must be JSON: Expected property name or '}' in JSON at position 1" };
const RUN_ID = BUILD_AND_FLASH.run_id;

export const submitRun: OperationExamples = {
  request: contract,
  answers: {
    200: {
      existed: { summary: 'Sent again when it was over', value: SUCCEEDED },
      differs: {
        summary: 'Sent again with another contract',
        value: { ...RUNNING, warnings: ['a run of this id exists with another contract; the stored one stands'] },
      },
    },
    201: { running: { summary: 'Its nodes were free', value: RUNNING } },
    202: { queued: { summary: 'Another run holds the board', value: QUEUED } },
  },
  problems: {
    invalid_request: NOT_JSON,
    unsatisfiable: { ...PROBLEM_DETAILS.unsatisfiable, run_id: RUN_ID },
    too_wide: { ...PROBLEM_DETAILS.too_wide, run_id: RUN_ID },
    run_id_taken: { ...PROBLEM_DETAILS.run_id_taken, run_id: RUN_ID, principal: 'bob' },
  },
};

export const dryRun: OperationExamples = {
  request: contract,
  answers: {
    200: {
      assigned: {
        summary: 'There are nodes for all roles',
        value: { run_id: RUN_ID, state: 'DRY_RUN', assigned: ASSIGNED },
      },
    },
  },
  problems: { invalid_request: NOT_JSON },
};

export const listRuns: OperationExamples = {
  answers: {
    200: {
      last_page: {
        summary: 'All there is',
        value: { items: [{ ...QUEUED_SUMMARY, run_id: 'change-4711-ps4' }, SUCCEEDED_SUMMARY], next: null },
      },
      page: { summary: 'There is more', value: { items: [SUCCEEDED_SUMMARY], next: PARAMETERS.cursor } },
    },
  },
  problems: {
    invalid_request: {
      detail: '/limit must be a whole number from 1 to 200',
      errors: [{ pointer: '/limit', detail: 'must be a whole number from 1 to 200' }],
    },
  },
};

export const getRun: OperationExamples = {
  answers: {
    200: {
      queued: { summary: 'Waiting', value: QUEUED },
      running: { summary: 'Under way', value: RUNNING },
      succeeded: { summary: 'Over', value: SUCCEEDED },
    },
  },
};

export const cancelRun: OperationExamples = {
  request: { reason: { summary: 'With a reason', value: { reason: 'patch set 4 was uploaded' } } },
  answers: {
    200: {
      cancelled: { summary: 'Cancelled by this request', value: CANCELLED },
      over: { summary: 'It had ended before', value: SUCCEEDED },
    },
  },
  problems: { forbidden: { detail: 'run change-4711-ps3 is not yours to cancel: ci submitted it' } },
};

export const downloadRecord: OperationExamples = {};

export const downloadBlob: OperationExamples = {
  problems: {
    forbidden: { detail: 'run change-4711-ps3 does not hold node rpi-8' },
    not_found: { detail: 'run change-4711-ps3 has no output image' },
  },
};

export const readLog: OperationExamples = {
  answers: {
    200: { so_far: { summary: 'So far', value: 'make image\nok\n' } },
    206: { more: { summary: 'What has come since', value: 'ok\n' } },
  },
  problems: {
    not_found: { detail: 'there is no log step of step 1 of run change-4711-ps3' },
    range_not_satisfiable: { detail: 'the size is 4096 bytes' },
  },
};
