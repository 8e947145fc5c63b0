import { contractHash } from '../../domain/contract/contract-identity.js';
import { BUILD_AND_FLASH } from './contracts.js';

const CREATED_AT = '2026-03-02T09:15:04.120Z';

export const ASSIGNED = [
  { as: 'builder', nodes: [{ node_id: 'rpi-7', label: 'Raspberry Pi 5, bench 2' }] },
  { as: 'board', nodes: [{ node_id: 'rpi-7', label: 'Raspberry Pi 5, bench 2' }] },
];

const WAITING = {
  since: CREATED_AT,
  reason: 'BUSY',
  detail:
    'Role "board" needs 1 node that offers board with soc="bcm2712"; 1 live node does, and it is not free. ' +
    'Leased: rpi-7 to run change-4690-ps1 of bob (until 2026-03-02T09:16:40.007Z unless renewed).',
  position: 2,
  ahead: 1,
  roles: [
    { as: 'builder', count: 1, live: 1, free: 1, busy: 0, draining: 0, held: 0, silent: 0, holders: [] },
    {
      as: 'board',
      count: 1,
      live: 1,
      free: 0,
      busy: 1,
      draining: 0,
      held: 0,
      silent: 0,
      holders: [
        {
          node_id: 'rpi-7',
          run_id: 'change-4690-ps1',
          principal: 'bob',
          since: '2026-03-02T08:52:11.640Z',
          not_after: '2026-03-02T09:16:40.007Z',
        },
      ],
    },
  ],
};

/** A run has its fields in one order, whatever its state. */
function shown(
  state: string,
  version: number,
  { assigned, ...more }: { assigned: object[] } & Record<string, unknown>,
) {
  const { run_id, work, requires } = BUILD_AND_FLASH;
  const contract_hash = contractHash(BUILD_AND_FLASH);
  const who = { principal: 'ci', work_id: 'gerrit:4711', work };
  const named = { run_id, state, version, contract_hash, ...who, requires, assigned };
  const { verdict, waiting, record, started_at, ended_at } = more;
  const why = { ...(waiting !== undefined && { waiting }), ...(verdict !== undefined && { verdict }) };
  return { ...named, ...why, record, created_at: CREATED_AT, started_at, ended_at };
}

const OPEN = { state: 'OPEN', digest: null };
const build = { seq: 1, id: 'build', kind: 'run', uses: 'builder' };
const approve = { seq: 2, id: 'approve', kind: 'ask', uses: null };
const flash = { seq: 3, id: 'flash', kind: 'run', uses: 'board' };

export const QUEUED_SUMMARY = shown('QUEUED', 1, {
  assigned: [],
  waiting: WAITING,
  record: OPEN,
  started_at: null,
  ended_at: null,
});

export const QUEUED = {
  ...QUEUED_SUMMARY,
  steps: [untouched(build, null, []), untouched(approve, null, ['build']), untouched(flash, null, ['approve'])],
};

export const RUNNING = {
  ...shown('RUNNING', 1, { assigned: ASSIGNED, record: OPEN, started_at: CREATED_AT, ended_at: null }),
  steps: [untouched(build, 'rpi-7', []), untouched(approve, null, ['build']), untouched(flash, 'rpi-7', ['approve'])],
};

export const SUCCEEDED_SUMMARY = shown('SUCCEEDED', 8, {
  assigned: ASSIGNED,
  verdict: {
    reason: 'succeeded',
    detail: 'every condition holds',
    by: { kind: 'node', name: 'rpi-7' },
    checks: [{ step: 'flash', what: 'exit_code', want: 0, got: 0, ok: true }],
  },
  record: {
    state: 'SEALED',
    digest: 'sha256:45638b476a2b10d12054bde22e8deb961861f21e20c6df322e582de2493c8da6',
  },
  started_at: CREATED_AT,
  ended_at: '2026-03-02T09:41:37.902Z',
});

const built = {
  ...build,
  state: 'DONE',
  node_id: 'rpi-7',
  needs: [],
  attempt: 1,
  started_at: '2026-03-02T09:15:04.655Z',
  ended_at: '2026-03-02T09:38:20.318Z',
  result: { exit_code: 0, produced: ['image'] },
};

const approved = {
  ...approve,
  state: 'DONE',
  node_id: null,
  needs: ['build'],
  attempt: 1,
  started_at: '2026-03-02T09:38:20.318Z',
  ended_at: '2026-03-02T09:40:02.551Z',
  result: { produced: ['approval'], answer: { ok: true }, answered_by: 'lab-desk' },
};

const flashed = {
  ...flash,
  state: 'DONE',
  node_id: 'rpi-7',
  needs: ['approve'],
  attempt: 1,
  started_at: '2026-03-02T09:40:03.004Z',
  ended_at: '2026-03-02T09:41:37.899Z',
  result: { exit_code: 0 },
};

export const SUCCEEDED = { ...SUCCEEDED_SUMMARY, steps: [built, approved, flashed] };

const CANCELLED_STEP = { state: 'CANCELLED', ended_at: '2026-03-02T09:39:02.411Z' };

export const CANCELLED = {
  ...shown('CANCELLED', 5, {
    assigned: ASSIGNED,
    verdict: {
      reason: 'cancelled',
      detail: 'cancelled by ci: patch set 4 was uploaded',
      by: { kind: 'person', name: 'ci' },
      checks: [],
    },
    record: {
      state: 'SEALED',
      digest: 'sha256:83e7f0c810878ef07a10614b3ea1902eacb397da9c1ea61d5a2ede23c93a5609',
    },
    started_at: CREATED_AT,
    ended_at: '2026-03-02T09:39:02.417Z',
  }),
  steps: [
    built,
    { ...untouched(approve, null, ['build']), ...CANCELLED_STEP, started_at: '2026-03-02T09:38:20.318Z' },
    { ...untouched(flash, 'rpi-7', ['approve']), ...CANCELLED_STEP },
  ],
};

function untouched(step: object, node_id: string | null, needs: string[]) {
  return { ...step, state: 'PENDING', node_id, needs, attempt: 1, started_at: null, ended_at: null };
}
