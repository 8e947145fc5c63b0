import type { OpenAPIObject } from '@nestjs/swagger';
import { type ProblemCode, PROBLEMS } from '../domain/problem-codes.js';
import { type Answered, type Operation, operationsOf, PROBLEM_JSON } from './operations.js';
import { generalExample, nameOf, sharedExamples } from './problem-page.js';

/** A refusal as one or several operations answer it. */
interface Refusal {
  /** Its codes, joined. */
  name: string;
  answer: Answered;
  answeredBy: { operation: Operation; status: string }[];
}

/**
 * What several operations refuse alike becomes a component, and so does the example of each code. Where two refusals have
 * the same codes and yet differ, as by an example of their own, the one that more operations share is the component.
 */
export function shareRefusals(document: OpenAPIObject): void {
  const shared = new Map<string, Answered>();
  const byUse = refusalsOf(document).sort((a, b) => b.answeredBy.length - a.answeredBy.length);
  for (const { name, answer, answeredBy } of byUse) {
    if (answeredBy.length === 1 || shared.has(name)) continue;
    shared.set(name, answer);
    for (const { operation, status } of answeredBy) {
      operation.responses[status] = { $ref: `#/components/responses/${name}` };
    }
  }
  const responses = Object.fromEntries([...shared].sort(([a], [b]) => (a < b ? -1 : 1)));
  const text = JSON.stringify([document.paths, responses]);
  const shown = (Object.keys(PROBLEMS) as ProblemCode[]).filter((code) => text.includes(`"${generalExample(code)}"`));
  document.components = {
    ...document.components,
    responses,
    examples: sharedExamples(shown),
  } as typeof document.components;
}

function refusalsOf(document: OpenAPIObject): Refusal[] {
  const found = new Map<string, Refusal>();
  for (const { operation } of operationsOf(document)) {
    for (const [status, answer] of Object.entries(operation.responses)) {
      const codes = Object.keys(answer.content?.[PROBLEM_JSON]?.examples ?? {});
      if (codes.length === 0) continue;
      const text = JSON.stringify(answer);
      const refusal = found.get(text) ?? { name: codes.map(nameOf).join('Or'), answer, answeredBy: [] };
      refusal.answeredBy.push({ operation, status });
      found.set(text, refusal);
    }
  }
  return [...found.values()];
}
