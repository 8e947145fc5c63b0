import { getSchemaPath, type OpenAPIObject } from '@nestjs/swagger';
import { type ProblemCode, PROBLEMS } from '../domain/problem-codes.js';
import { ProblemDto } from '../platform/http/problem.dto.js';
import { answersOf, PROBLEM_JSON } from './operations.js';
import { nameOf } from './problem-page.js';

/**
 * Says of every refusal which codes it can have: a schema for each code, which a client that is generated from the document
 * can tell apart.
 */
export function narrowProblems(document: OpenAPIObject): void {
  const used = new Set<ProblemCode>();
  for (const answer of answersOf(document)) {
    const problem = answer.content?.[PROBLEM_JSON];
    if (problem === undefined) continue;
    const codes = Object.keys(problem.examples ?? {}) as ProblemCode[];
    codes.forEach((code) => used.add(code));
    problem.schema = oneOf(codes);
  }
  Object.assign(
    document.components!.schemas!,
    Object.fromEntries([...used].map((code) => [schemaOf(code), narrowed(code)])),
  );
}

function oneOf(codes: ProblemCode[]): object {
  const refs = codes.map((code) => `#/components/schemas/${schemaOf(code)}`);
  if (refs.length === 1) return { $ref: refs[0] };
  const mapping = Object.fromEntries(codes.map((code, at) => [code, refs[at]]));
  return { oneOf: refs.map(($ref) => ({ $ref })), discriminator: { propertyName: 'code', mapping } };
}

/** `NotFoundProblem` of `not_found`. */
function schemaOf(code: ProblemCode): string {
  return `${nameOf(code)}Problem`;
}

function narrowed(code: ProblemCode): object {
  return {
    type: 'object',
    description: `${PROBLEMS[code].title}.`,
    allOf: [{ $ref: getSchemaPath(ProblemDto) }],
    properties: { code: { type: 'string', const: code } },
    required: ['code'],
  };
}
