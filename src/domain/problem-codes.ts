/** One kind of refusal: what its status means to the caller, and what, if anything, an operator should do about it. */
export interface ProblemKind {
  status: number;
  title: string;
  caller: string;
  operator: string;
}

const nothing = 'Nothing: the request was refused and nothing was stored.';

/** Every `code` a problem can carry. Codes are part of the API: none is ever renamed. */
export const PROBLEMS = {
  invalid_contract: {
    status: 400,
    title: 'The contract is not valid',
    caller: 'Mend every place that `errors` points at and submit again. The same contract will be refused again.',
    operator: nothing,
  },
  invalid_request: {
    status: 400,
    title: 'The request is not valid',
    caller: 'Mend what `detail` and `errors` name: the body, a query parameter, a header or the path.',
    operator: nothing,
  },
  unauthenticated: {
    status: 401,
    title: 'No valid token',
    caller: 'Send `Authorization: Bearer <token>` with a token this server knows.',
    operator: 'Check the tokens file if the caller should be known; it is read again on SIGHUP.',
  },
  forbidden: {
    status: 403,
    title: 'Not allowed',
    caller:
      'The token is valid, but its role may not do this, or the run or node is not its own. Without tokens: the request came from the page of another site, or by a name that is not of this machine.',
    operator: 'Check the role of the token if the caller should be allowed.',
  },
  not_answerer: {
    status: 403,
    title: 'Not asked of you',
    caller: 'Only those whom the contract names as answerers may answer. The question stays open.',
    operator: nothing,
  },
  not_found: {
    status: 404,
    title: 'Not found',
    caller: 'The path is right, but there is no such run, step, node or problem here.',
    operator: nothing,
  },
  route_not_found: {
    status: 404,
    title: 'No such route',
    caller: 'Nothing is served at this path. The paths are listed under /docs.',
    operator: nothing,
  },
  method_not_allowed: {
    status: 405,
    title: 'Method not allowed',
    caller: 'The path is served, but not with this method; `Allow` names those that are.',
    operator: nothing,
  },
  not_claimed: {
    status: 409,
    title: 'The step is not claimed like this',
    caller:
      'The step is not under way on this node with this attempt: it has ended, or was never claimed. Drop the work and claim again.',
    operator: 'Common after a restart of a node or an expired lease; look at the run if it repeats.',
  },
  stale_lease: {
    status: 409,
    title: 'The lease is over',
    caller:
      'The nonce is not that of a lease this node holds for the run. Stop the work: the node may serve another run already.',
    operator: 'The node was silent for too long, or the run ended without it. Nothing was changed.',
  },
  stale_instance: {
    status: 409,
    title: 'Another instance of the node has spoken',
    caller: 'A newer process advertises this node. This one is to stop.',
    operator: 'Two processes may be running for one node.',
  },
  offset_gap: {
    status: 409,
    title: 'The offset lies beyond the end',
    caller: 'Send the bytes from the size that is stored on.',
    operator: nothing,
  },
  not_asked: {
    status: 409,
    title: 'No open question',
    caller: 'The step does not ask at the moment: it was answered, has expired, or was not reached yet.',
    operator: nothing,
  },
  not_sealed: {
    status: 409,
    title: 'The record is not sealed yet',
    caller: 'The run is not over, or its record is being finished. Ask again when `record.state` is SEALED.',
    operator: 'A run that is over for longer than a renew period and not sealed is worth a look at the log.',
  },
  run_over: {
    status: 410,
    title: 'The run is over',
    caller: 'Nothing more is taken for this run.',
    operator: nothing,
  },
  version_mismatch: {
    status: 412,
    title: 'The run has changed',
    caller: '`If-Match` names another version than the run has now. Nothing was changed: read the run and decide anew.',
    operator: nothing,
  },
  too_large: {
    status: 413,
    title: 'Too large',
    caller: 'Send less: `detail` names the limit.',
    operator:
      'MEDIATOR_MAX_BLOB_BYTES and MEDIATOR_MAX_RUN_BYTES bound outputs and what a run stores; the other limits are fixed.',
  },
  unsupported_media_type: {
    status: 415,
    title: 'Unsupported media type',
    caller: 'Send the body as `application/json`.',
    operator: nothing,
  },
  range_not_satisfiable: {
    status: 416,
    title: 'The range lies outside',
    caller: 'Ask for a range within the size that `Content-Range` names.',
    operator: nothing,
  },
  rate_limited: {
    status: 429,
    title: 'Too many requests',
    caller: 'Wait for as long as `Retry-After` says.',
    operator:
      'Of requests a second, per token, the limit is MEDIATOR_RATE_LIMIT_PER_SECOND. How many uploads of one caller may be under way, and how much may wait to be judged, is fixed; `detail` says which it was.',
  },
  unsatisfiable: {
    status: 422,
    title: 'No nodes could ever do this',
    caller: 'The nodes that are known, busy or not, do not offer what the contract asks for. Waiting would not help.',
    operator: 'The run is stored as FAILED. If the node exists, see whether it advertises.',
  },
  too_wide: {
    status: 422,
    title: 'The run would take too many nodes',
    caller: 'The run asks for more distinct nodes than one run may hold. The same submission will be refused again.',
    operator: 'The cap is MEDIATOR_MAX_LEASES_PER_RUN. The run is stored as FAILED.',
  },
  not_promised: {
    status: 422,
    title: 'Not an output of this step',
    caller:
      'Another step promises an output of this name, or the step is a question, which takes no uploads. Upload under a name that this step promises, or that no step does.',
    operator: 'A node that uploads what another step is to make is mistaken, or means to be taken for it.',
  },
  run_id_taken: {
    status: 422,
    title: 'The run id is taken',
    caller:
      "A run of this id exists and is somebody else's: `principal` says whose. Nothing was stored; submit under another id.",
    operator: 'Common where several people number their runs alike: let each id begin with who submits it.',
  },
  schema_violation: {
    status: 422,
    title: 'Does not fit the schema',
    caller: 'Mend what `errors` points at. Nothing was stored.',
    operator: nothing,
  },
  internal: {
    status: 500,
    title: 'Internal error',
    caller: 'A fault of the server. Tell its operator the `request_id`.',
    operator: 'A bug: the log line with this `request_id` has the stack.',
  },
  unavailable: {
    status: 503,
    title: 'Not available now',
    caller:
      'The server is starting, stopping, or without its database. Try again after `Retry-After`; every operation here may be repeated.',
    operator: 'Look at /readyz and at the database.',
  },
} as const satisfies Record<string, ProblemKind>;

export type ProblemCode = keyof typeof PROBLEMS;
