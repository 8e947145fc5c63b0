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
    caller: 'Fix every place that `errors` points to and submit again. The same contract would be refused again.',
    operator: nothing,
  },
  invalid_request: {
    status: 400,
    title: 'The request is not valid',
    caller: 'Fix what `detail` and `errors` name: the body, a query parameter, a header or the path.',
    operator: nothing,
  },
  unauthenticated: {
    status: 401,
    title: 'No valid token',
    caller: 'Send `Authorization: Bearer <token>` with a token that this server knows.',
    operator: 'If the caller should be known, check the tokens file; the server reads it again on SIGHUP.',
  },
  forbidden: {
    status: 403,
    title: 'Not allowed',
    caller:
      'The token is valid, but its role may not do this, or the run or node belongs to somebody else. On a server without tokens: the request came from a page of another site, or `Host` names another machine.',
    operator: 'If the caller should be allowed to do this, check the role of its token.',
  },
  not_answerer: {
    status: 403,
    title: 'You are not asked',
    caller: 'Only the answerers that the contract names may answer. The question stays open.',
    operator: nothing,
  },
  not_found: {
    status: 404,
    title: 'Not found',
    caller: 'The path is served, but the run, step, node or problem that it names does not exist.',
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
    title: 'The step is not claimed in this way',
    caller:
      'This node is not working on this attempt of the step: the attempt has ended or was never claimed. Drop the work and claim again.',
    operator: 'Common after a node restarts or a lease expires. If it repeats, look at the run.',
  },
  stale_lease: {
    status: 409,
    title: 'The lease is over',
    caller:
      'The nonce does not belong to a lease by which this node serves the run. Stop the work: the node may already serve another run.',
    operator: 'The node was silent for too long, or the run ended without it. Nothing has changed.',
  },
  stale_instance: {
    status: 409,
    title: 'A newer instance of the node has advertised',
    caller: 'A newer process advertises this node. Stop this one.',
    operator: 'Check whether two processes run for one node.',
  },
  offset_gap: {
    status: 409,
    title: 'The offset is beyond the end of the log',
    caller: 'Continue from `Upload-Offset`, the number of bytes that are stored.',
    operator: nothing,
  },
  not_asked: {
    status: 409,
    title: 'No open question',
    caller: 'The step has no open question: it was answered, it has expired, or the run has not reached it.',
    operator: nothing,
  },
  node_in_use: {
    status: 409,
    title: 'The node is in use',
    caller: 'A node is forgotten when it is gone: it must not be live, and no run may hold it. Stop its process first.',
    operator: nothing,
  },
  not_sealed: {
    status: 409,
    title: 'The record is not sealed yet',
    caller: 'The run is not over, or its record is still being sealed. Ask again when `record.state` is SEALED.',
    operator: 'If a record is still not sealed a renew period after its run ended, look at the log.',
  },
  run_over: {
    status: 410,
    title: 'The run is over',
    caller: 'The run takes no more uploads. Stop the work and claim again.',
    operator: nothing,
  },
  version_mismatch: {
    status: 412,
    title: 'The run has changed',
    caller:
      'The run no longer has the version that `If-Match` names. Nothing was changed: read the run and decide again.',
    operator: nothing,
  },
  too_large: {
    status: 413,
    title: 'Too large',
    caller: 'Send less: `detail` names the limit.',
    operator:
      'MEDIATOR_MAX_BLOB_BYTES limits an output, MEDIATOR_MAX_RUN_BYTES all that a run stores; the other limits are fixed.',
  },
  unsupported_media_type: {
    status: 415,
    title: 'Unsupported media type',
    caller: 'Send the body as `application/json`.',
    operator: nothing,
  },
  range_not_satisfiable: {
    status: 416,
    title: 'The range cannot be satisfied',
    caller: 'Ask for a range within the size that `Content-Range` gives.',
    operator: nothing,
  },
  rate_limited: {
    status: 429,
    title: 'Too many requests',
    caller: 'Wait for as many seconds as `Retry-After` says, then repeat the request.',
    operator:
      '`detail` says which limit was reached. MEDIATOR_RATE_LIMIT_PER_SECOND limits the requests per second of each token; the number of uploads under way and of bodies waiting for schema validation, for one caller, is fixed.',
  },
  unsatisfiable: {
    status: 422,
    title: 'No nodes can satisfy this contract',
    caller: 'The known nodes, busy or not, do not offer what the contract requires. Waiting would not help.',
    operator: 'The run is stored as FAILED. If suitable nodes exist, check whether they advertise.',
  },
  too_wide: {
    status: 422,
    title: 'The run needs too many nodes',
    caller: 'The run needs more distinct nodes than one run may hold. The same submission would be refused again.',
    operator: 'The run is stored as FAILED. The cap is MEDIATOR_MAX_LEASES_PER_RUN.',
  },
  not_promised: {
    status: 422,
    title: 'Not an output of this step',
    caller:
      'Another step promises an output of this name, or the step is a question, which takes no uploads. Upload under a name that this step promises, or that no step promises.',
    operator:
      'The node uploads what another step has promised: by mistake, or to pass it off as the output of that step.',
  },
  run_id_taken: {
    status: 422,
    title: 'The run id is taken',
    caller:
      'Somebody else, whom `principal` names, has submitted a run with this id. Nothing was stored; submit under another id.',
    operator:
      'Common where several people number their runs in the same way: begin each id with the name of its submitter.',
  },
  schema_violation: {
    status: 422,
    title: 'The value does not match the schema',
    caller: 'Fix what `errors` points to. Nothing was stored.',
    operator: nothing,
  },
  internal: {
    status: 500,
    title: 'Internal error',
    caller: 'The server has failed. Give its operator the `request_id`.',
    operator: 'This is a bug: the log line with this `request_id` has the stack trace.',
  },
  unavailable: {
    status: 503,
    title: 'Not available now',
    caller:
      'The server is starting, is stopping, or cannot reach its database. Try again after `Retry-After`; every operation may be repeated.',
    operator: 'Look at /readyz, at the log and at the database.',
  },
} as const satisfies Record<string, ProblemKind>;

export type ProblemCode = keyof typeof PROBLEMS;
