/** What holds for every operation; the first thing one reads. */
export const INTRODUCTION = `
A Mediator stands between people who need scarce machines and the nodes that own them. A **run** says in its **contract**
what it needs; all its nodes are leased at once or none, and where they are taken it waits in a durable queue that holds
nothing.

**To have something done:** \`submitRun\`; at 202 follow it with \`getRun\` until \`state\` is final, and its steps with
\`readLog\`; answer what it asks (\`listAsks\`, \`answerAsk\`); read \`verdict\`, fetch outputs with \`downloadBlob\`, and keep
\`downloadRecord\`.

**To be a node:** \`advertiseNode\` every \`renew_seconds\`; \`claimStep\` in a loop; \`downloadBlob\` what the claim names under
\`in\`; do what it says, and tell of it with \`appendLog\`; \`uploadOutput\` what it names under \`out\`; \`reportResult\`, all of
it with the nonce of the lease. When a lease is missing in the answer to an advert, stop its work.

**To try it here,** on a server that has nothing yet: execute the examples of \`advertiseNode\`, \`submitRun\`, \`claimStep\`,
\`appendLog\`, \`uploadOutput\`, \`reportResult\` and \`answerAsk\` in this order, then read what came of it and end it with
\`cancelRun\`. The nonce that \`claimStep\` answers goes into \`Mediator-Lease\`; a log or an
output is a file, or text where \`text/plain\` is chosen. A contract that is submitted before a node
offers what it asks for is refused, and stays refused under its \`run_id\`. An advert holds for three minutes: send it again
meanwhile.

### What holds everywhere

- JSON in UTF-8, \`snake_case\`. More fields may be added to answers, none is renamed: ignore what you do not know.
- Times are RFC 3339 in UTC with milliseconds, by the clock of the database.
- A 2xx is durable: what it says survives a crash of the server.
- Refusals are \`application/problem+json\` (RFC 9457), on every 4xx and 5xx (only \`readyz\` answers 503 with its report). Decide
  by \`code\`; \`GET /problems/{code}\` explains it. Besides those that are listed with an operation there are \`route_not_found\`
  (404) and \`method_not_allowed\` (405, with \`Allow\`).
- 503 \`unavailable\` means that the server is starting, stopping or without its database: repeat after \`Retry-After\`.
- Whatever is served with GET is served with HEAD too. \`Accept\` chooses nothing but the page of \`explainProblem\`, and no path
  ends with a slash.
- \`Cache-Control\` is \`no-store\`. Answers to GET that have an \`ETag\` may be kept (\`private, no-cache\`) and are asked for
  with \`If-None-Match\`: 304 says that they are still right.
- Every string is well-formed Unicode without NUL, and no JSON is nested deeper than 200 levels.
- Who speaks is known by \`Authorization: Bearer <token>\`. The role of the token says which operations it may call: a
  \`submitter\` submits, reads, answers, and cancels what it has submitted; a \`node\` speaks for itself; an \`operator\` may do
  everything. Who may not is told so before anything is said of the run or the node: 401, 429, 403, then the rest.
- Where the server has no tokens, whoever reaches it is operator and says who they are in \`Mediator-Principal\`. It then
  listens on the loopback interface only, and takes nothing from the pages of others (403), unless its operator has decided
  otherwise.
`.trim();

/** The groups of operations, in reading order. */
export const TAGS = {
  nodes: 'What nodes offer, and who holds them.',
  runs: 'Submit a contract, follow its run, end it, and keep the record of it.',
  steps: 'How a node gets its work and says what became of it, from the claim to the result.',
  asks: 'What runs ask people, and the answers.',
  queue: 'Who waits, and for what.',
  operation: 'Probes, figures, and what explains itself.',
};
