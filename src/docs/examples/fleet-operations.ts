import { ASSIGNED, QUEUED_SUMMARY } from './example-runs.js';
import type { OperationExamples } from './example.js';

const OBSERVED_AT = '2026-03-02T09:15:30.004Z';
const CAPABILITIES = [
  { capability: 'build', attrs: { arch: 'arm64' } },
  { capability: 'board', attrs: { soc: 'bcm2712', ram: '8' } },
];
const LABEL = 'Raspberry Pi 5, bench 2';

const LEASE = {
  run_id: 'change-4711-ps3',
  node_id: 'rpi-7',
  nonce: '0c2f8f0e-6a0b-4a53-9c53-6f3b9f6d7a11',
  not_after: '2026-03-02T10:15:04.131Z',
};

export const getQueue: OperationExamples = {
  answers: {
    200: {
      one: {
        summary: 'One run waits behind one that is not on this page',
        value: {
          observed_at: OBSERVED_AT,
          depth: 2,
          items: [
            {
              run_id: QUEUED_SUMMARY.run_id,
              work_id: QUEUED_SUMMARY.work_id,
              principal: QUEUED_SUMMARY.principal,
              created_at: QUEUED_SUMMARY.created_at,
              requires: QUEUED_SUMMARY.requires,
              waiting: QUEUED_SUMMARY.waiting,
            },
          ],
          next: null,
        },
      },
      empty: { summary: 'Nobody waits', value: { observed_at: OBSERVED_AT, depth: 0, items: [], next: null } },
    },
  },
  problems: { invalid_request: { detail: 'cursor must be the `next` of an earlier page' } },
};

const heartbeat = { node_id: 'rpi-7', label: LABEL, capabilities: CAPABILITIES };
const answered = { node_id: 'rpi-7', renew_seconds: 60, expires_at: '2026-03-02T09:18:30.004Z', drain: '', held: null };

export const advertiseNode: OperationExamples = {
  request: {
    heartbeat: { summary: 'What the node offers', value: heartbeat },
    instance: {
      summary: 'With the process that speaks',
      value: { ...heartbeat, instance: 'boot-2026-03-02T07:58' },
    },
    drain: { summary: 'It takes nothing new', value: { ...heartbeat, drain: 'graceful' } },
  },
  answers: {
    200: {
      held: { summary: 'A run holds it', value: { ...answered, leases: [LEASE] } },
      free: { summary: 'Nobody holds it', value: { ...answered, leases: [] } },
      warned: {
        summary: 'A word was not understood',
        value: {
          ...answered,
          warnings: ['drain "soon" is not known and counts as none; it can be "graceful" or "at-boundary"'],
          leases: [],
        },
      },
    },
  },
  problems: {
    forbidden: { detail: 'the token of node rpi-8 may not speak for node rpi-7' },
    invalid_request: {
      detail: '/capabilities must be an array of at most 64 entries',
      errors: [{ pointer: '/capabilities', detail: 'must be an array of at most 64 entries' }],
    },
  },
};

const FREE_NODE = {
  node_id: 'rpi-7',
  label: LABEL,
  capabilities: CAPABILITIES,
  drain: '',
  seen_at: OBSERVED_AT,
  expires_at: answered.expires_at,
  held: null,
  live: true,
  lease: null,
};

const HOLD = { reason: 'the power supply whistles', by: 'olga', since: '2026-03-02T09:14:58.310Z' };

export const listNodes: OperationExamples = {
  answers: {
    200: {
      nodes: {
        summary: 'One is held, one is free',
        value: {
          observed_at: OBSERVED_AT,
          items: [
            {
              node_id: 'forge-1',
              label: 'forge-1',
              capabilities: [{ capability: 'build', attrs: { arch: 'arm64' } }],
              drain: '',
              seen_at: '2026-03-02T09:15:01.220Z',
              expires_at: '2026-03-02T09:18:01.220Z',
              held: null,
              live: true,
              lease: null,
            },
            {
              ...FREE_NODE,
              drain: 'graceful',
              lease: {
                run_id: LEASE.run_id,
                principal: 'ann',
                since: '2026-03-02T09:15:04.131Z',
                not_after: LEASE.not_after,
              },
            },
          ],
          next: null,
        },
      },
    },
  },
  problems: {
    invalid_request: {
      detail: '/all must be true or false',
      errors: [{ pointer: '/all', detail: 'must be true or false' }],
    },
  },
};

const noSuchNode = { detail: 'there is no node rpi-7' };

export const getNode: OperationExamples = {
  answers: { 200: { node: { summary: 'It is free', value: FREE_NODE } } },
  problems: {
    not_found: noSuchNode,
    invalid_request: { detail: 'path/node_id must be well-formed Unicode without NUL' },
  },
};

export const holdNode: OperationExamples = {
  request: { hold: { summary: 'What is wrong with it', value: { reason: HOLD.reason } } },
  answers: { 200: { held: { summary: 'It is out of service', value: { ...FREE_NODE, held: HOLD } } } },
  problems: {
    invalid_request: {
      detail: '/reason must be a string of 1 to 500 characters',
      errors: [{ pointer: '/reason', detail: 'must be a string of 1 to 500 characters' }],
    },
    not_found: { detail: 'there is no node rpi-7: it was never seen, or was forgotten' },
  },
};

export const liftHold: OperationExamples = {
  answers: { 200: { lifted: { summary: 'It is in service again', value: FREE_NODE } } },
  problems: { not_found: noSuchNode },
};

export const forgetNode: OperationExamples = {
  parameters: { node_id: 'rpi-8' },
  problems: { not_found: { detail: 'there is no node rpi-8' } },
};

export const listGrants: OperationExamples = {
  answers: {
    200: {
      grants: {
        summary: 'One run holds the node, another has given it back',
        value: {
          items: [
            {
              node_id: 'rpi-7',
              label: LABEL,
              run_id: LEASE.run_id,
              principal: 'ann',
              roles: ['builder', 'board'],
              granted_at: '2026-03-02T09:15:04.131Z',
              released_at: null,
              why: null,
            },
            {
              node_id: 'rpi-7',
              label: LABEL,
              run_id: 'change-4690-ps1',
              principal: 'bob',
              roles: ['board'],
              granted_at: '2026-03-02T08:40:51.002Z',
              released_at: '2026-03-02T09:15:04.120Z',
              why: 'succeeded',
            },
          ],
          next: null,
        },
      },
    },
  },
  problems: {
    invalid_request: {
      detail: '/from must be a time as RFC 3339 writes it, such as 2026-03-02T09:15:04.131Z',
      errors: [{ pointer: '/from', detail: 'must be a time as RFC 3339 writes it, such as 2026-03-02T09:15:04.131Z' }],
    },
  },
};

export const listCapabilities: OperationExamples = {
  answers: {
    200: {
      capabilities: {
        summary: 'Boards and a build host',
        value: {
          items: [
            { capability: 'board', nodes: 2, attrs: { ram: ['8'], soc: ['bcm2711', 'bcm2712'] } },
            { capability: 'build', nodes: 2, attrs: { arch: ['arm64'] } },
          ],
        },
      },
    },
  },
  problems: { invalid_request: { detail: 'query/x must be well-formed Unicode without NUL' } },
};

export const claimStep: OperationExamples = {
  answers: {
    200: {
      run: {
        summary: 'A program to run',
        value: {
          run_id: 'change-4711-ps3',
          seq: 1,
          id: 'build',
          kind: 'run',
          attempt: 1,
          uses: 'builder',
          run: ['make', 'image'],
          out: ['image'],
          assigned: ASSIGNED,
          principal: 'ci',
          lease: LEASE,
        },
      },
    },
  },
  problems: {
    forbidden: { detail: 'the token of node rpi-8 may not speak for node rpi-7' },
    invalid_request: {
      detail: '/wait must be a whole number of seconds from 0 to 300',
      errors: [{ pointer: '/wait', detail: 'must be a whole number of seconds from 0 to 300' }],
    },
  },
};

const reported = { run_id: 'change-4711-ps3', seq: 1, rolled_back: false };

export const reportResult: OperationExamples = {
  request: {
    exited: {
      summary: 'The program has ended',
      value: { node_id: 'rpi-7', attempt: 1, exit_code: 0, produced: ['image'] },
    },
    failed: {
      summary: 'It could not be done',
      value: { node_id: 'rpi-7', attempt: 1, error: 'the board does not come up on the serial console' },
    },
  },
  answers: {
    200: {
      next: { summary: 'The run goes on', value: { ...reported, step_state: 'DONE', run_state: 'RUNNING' } },
      last: {
        summary: 'It was the last step',
        value: { ...reported, seq: 3, step_state: 'DONE', run_state: 'SUCCEEDED' },
      },
      failed: { summary: 'The step failed', value: { ...reported, step_state: 'FAILED', run_state: 'FAILED' } },
    },
  },
  problems: {
    forbidden: { detail: 'the token of node rpi-8 may not speak for node rpi-7' },
    invalid_request: {
      detail: 'exit_code must be there for a run step that reports no error',
      errors: [{ pointer: '/exit_code', detail: 'must be there for a run step that reports no error' }],
    },
    not_found: { detail: 'run change-4711-ps3 has no step 1' },
  },
};
