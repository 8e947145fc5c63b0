import { Problem } from '../platform/http/problem.js';
import { malformed } from '../platform/http/well-formed.js';

/** Takes the body as an answer: whatever JSON it is, with keys of any name, since only its schema knows them. */
export function acceptAnswer(body: unknown): unknown {
  if (body === undefined) throw new Problem('invalid_request', 'the body must be the answer, as JSON');
  const fault = malformed(body, []);
  if (fault === undefined) return body;
  throw new Problem('invalid_request', `body${fault.pointer} ${fault.detail}`, { errors: [fault] });
}
