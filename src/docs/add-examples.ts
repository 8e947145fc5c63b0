import type { OpenAPIObject } from '@nestjs/swagger';
import type { ProblemCode } from '../domain/problem-codes.js';
import { type OperationExamples, PARAMETERS } from './examples/example.js';
import { EXAMPLES } from './examples/examples.js';
import { type Operation, operationsOf, type Parameter } from './operations.js';
import { generalExample, problemExample } from './problem-page.js';

const PROBLEM_JSON = 'application/problem+json';

/** Gives every operation the examples of its parameters, its body, its answers and its problems. */
export function addExamples(document: OpenAPIObject): void {
  for (const { path, operation } of operationsOf(document)) {
    const examples = EXAMPLES[operation.operationId];
    if (examples === undefined) throw new Error(`there are no examples of the operation ${operation.operationId}`);
    for (const parameter of operation.parameters) addToParameter(parameter, examples);
    if (examples.request) addRequest(operation, examples.request);
    addAnswers(operation, examples);
    addProblems(operation, path, examples);
  }
}

/** Swagger UI fills in the example of a parameter: one that narrows an answer is given where it does not look. */
function addToParameter(parameter: Parameter, { parameters = {} }: OperationExamples): void {
  const example = parameters[parameter.name] ?? PARAMETERS[parameter.name];
  if (parameter.in === 'query') parameter.schema = { ...parameter.schema, examples: [example] };
  else if (parameter.in === 'path') parameter.example = example;
}

function addRequest({ requestBody }: Operation, request: OperationExamples['request']): void {
  for (const media of Object.values(requestBody?.content ?? {})) media.examples = request;
}

function addAnswers({ operationId, responses }: Operation, { answers = {} }: OperationExamples): void {
  for (const [status, examples] of Object.entries(answers)) {
    const [media] = Object.values(responses[status]?.content ?? {});
    if (media === undefined) throw new Error(`${operationId} does not answer ${status} with a body`);
    media.examples = examples;
  }
}

function addProblems({ parameters, responses }: Operation, path: string, { problems = {} }: OperationExamples): void {
  const inPath = parameters.filter((parameter) => parameter.in === 'path');
  const instance = inPath.reduce((text, { name, example }) => text.replace(`{${name}}`, String(example)), path);
  for (const response of Object.values(responses)) {
    for (const [code, example] of Object.entries(response.content?.[PROBLEM_JSON]?.examples ?? {})) {
      const own = problems[code as ProblemCode];
      if (own === undefined) {
        delete example.summary;
        example.$ref = generalExample(code as ProblemCode);
        continue;
      }
      example.value = problemExample(code as ProblemCode, own, instance);
    }
  }
}
