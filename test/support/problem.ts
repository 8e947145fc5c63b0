import { expect } from '@jest/globals';
import type { Answer } from './http.js';

/** A refusal as every one must be: problem+json with all its members, named by the request's id. Gives its body. */
export function expectProblem(answer: Answer, status: number, code: string, path?: string): any {
  const { type, title, detail, instance, request_id, ...rest } = answer.body;
  expect({ status: answer.status, type, body: rest }).toMatchObject({
    status,
    type: `/problems/${code}`,
    body: { status, code },
  });
  expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json(;|$)/);
  expect(title).toEqual(expect.stringMatching(/./));
  expect(detail).toEqual(expect.stringMatching(/./));
  expect(request_id).toBe(answer.headers.get('x-request-id'));
  if (path !== undefined) expect(instance).toBe(path);
  return answer.body;
}
