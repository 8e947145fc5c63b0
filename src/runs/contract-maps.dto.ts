import { ApiModel } from '../platform/http/api-model.decorator.js';

@ApiModel('AgentTask', 'What an agent is to do: any object, handed to the node as it is.', {
  additionalProperties: true,
})
export class AgentTaskDto {}

@ApiModel(
  'OutputSchemas',
  'Name of an output → the JSON Schema (2020-12) that it must satisfy, at most 32 KiB and 1,000 keywords, names and values (1,500 in all schemas of a contract), with `$ref` only within itself.',
  { additionalProperties: { type: ['object', 'boolean'] } },
)
export class OutputSchemasDto {}

@ApiModel(
  'Answer',
  'What a person answers, or the contract by default: an object that satisfies the schema of the question.',
  {
    additionalProperties: true,
  },
)
export class AnswerDto {}

@ApiModel('AnswerSchema', 'The JSON Schema (2020-12) of an object, from which a form can be drawn.', {
  additionalProperties: true,
})
export class AnswerSchemaDto {}
