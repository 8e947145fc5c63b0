import type { ProblemCode } from '../../domain/problem-codes.js';
import type { ProblemDetail } from './example.js';

export const REQUEST_ID = '6f1c9a52-1f0e-4f3b-9a53-0d6c2b1f7a10';

/** What each kind of problem may say; an operation that would say something else has that in its own examples. */
export const PROBLEM_DETAILS: Record<ProblemCode, ProblemDetail> = {
  invalid_contract: {
    detail: 'the contract has 2 faults; see errors',
    errors: [
      { pointer: '/requires', detail: '"requires" is required: an array of 1 to 64 requirements.' },
      {
        pointer: '/steps/0/uses',
        detail: 'There is no role "bord"; declare it in "requires", or acquire it in an earlier step.',
      },
    ],
  },
  invalid_request: { detail: 'path/run_id must be well-formed Unicode without NUL' },
  unauthenticated: { detail: 'the token is not known: send Authorization: Bearer <token>' },
  forbidden: { detail: 'the role node may not do this; submitter and operator may' },
  not_answerer: { detail: 'step approve does not ask ann; it asks lab-desk' },
  not_found: { detail: 'there is no run change-4711-ps3' },
  route_not_found: { detail: 'nothing is served at /v1/run' },
  method_not_allowed: { detail: '/v1/runs takes GET, HEAD, POST, not PUT' },
  not_claimed: { detail: 'the step is DONE in attempt 1: node rpi-7 has no such claim' },
  stale_lease: { detail: 'node rpi-7 has no lease of the run with this nonce: stop the work' },
  stale_instance: { detail: 'node rpi-7 was last advertised by another instance than this one' },
  offset_gap: { detail: 'the log has 4096 bytes, and the offset is 8192' },
  not_asked: { detail: 'step approve has no open question at the moment' },
  node_in_use: { detail: 'node rpi-7 is live: stop its process, or hold it' },
  not_sealed: { detail: 'the record is sealed when the run is over; ask again then' },
  run_over: { detail: 'the run is over' },
  version_mismatch: { detail: 'run change-4711-ps3 is at version 4, which If-Match does not name' },
  too_large: { detail: 'the body is larger than the 64 KiB that this operation takes' },
  unsupported_media_type: { detail: 'the body must be sent as application/json' },
  range_not_satisfiable: { detail: 'the output has 4096 bytes' },
  rate_limited: { detail: 'more than 20 requests a second' },
  unsatisfiable: {
    detail: 'Role "board" needs 1 node that offers board with soc="bcm2712"; no live node does.',
  },
  too_wide: { detail: 'the run would take 3 nodes, and a run may lease at most 2' },
  not_promised: { detail: 'another step promises image, and step 2 does not' },
  run_id_taken: { detail: 'run change-4711-ps3 already exists and belongs to bob: submit under another id' },
  schema_violation: { detail: 'image does not match its schema in the contract; nothing was stored' },
  internal: { detail: 'the server has failed; its log has the details under this request id' },
  unavailable: { detail: 'the database does not answer' },
};
