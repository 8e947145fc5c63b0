import type { JsonDocument } from '../domain/json/read-json.js';
import { Problem } from '../platform/http/problem.js';
import { refuseFaults } from '../platform/http/refuse-faults.js';

/** Takes the body as an answer: whatever JSON it is, with keys of any name, since only its schema knows them. */
export function acceptAnswer(body: JsonDocument | undefined): JsonDocument {
  if (body === undefined) throw new Problem('invalid_request', 'the body must be the answer, as JSON');
  refuseFaults(body.faults);
  return body;
}
