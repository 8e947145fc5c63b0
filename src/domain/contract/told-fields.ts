import type { ObjectShape, ObjectValue } from './declared/objects.js';
import type { JsonSchema } from './declared/shape.js';
import { AGENT_STEP, RUN_STEP, type StepFields } from './step-kinds.js';

/** The fields of a step that its node is told of. */
type ToldOf<Step> =
  Step extends ObjectShape<infer F>
    ? ObjectValue<{ [Key in keyof F as F[Key] extends { toNode: string } ? Key : never]: F[Key] }>
    : never;

export type ToldRunStep = ToldOf<typeof RUN_STEP>;
export type ToldAgentStep = ToldOf<typeof AGENT_STEP>;

/** A field, and what it means to the node. */
export interface ToldField {
  key: string;
  schema: JsonSchema;
  means: string;
  required: boolean;
}

/** What a node is told of a step of this kind. */
export function toldFields({ declared }: { declared: { fields: StepFields } }): ToldField[] {
  return Object.entries(declared.fields).flatMap(([key, { shape, required, toNode }]) =>
    toNode === false ? [] : [{ key, schema: shape.schema, means: toNode, required: required !== undefined }],
  );
}

/** The names of all fields of which any node is told. */
export const TOLD: readonly string[] = [
  ...new Set([...toldFields(RUN_STEP), ...toldFields(AGENT_STEP)].map(({ key }) => key)),
];
