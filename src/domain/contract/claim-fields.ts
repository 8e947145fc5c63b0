import type { ObjectShape, ObjectValue } from './declared/objects.js';
import type { JsonSchema } from './declared/shape.js';
import { AGENT_STEP, RUN_STEP, type StepFields } from './step-kinds.js';

/** The fields of a step that its claim gives to the node. */
type ClaimFieldsOf<Step> =
  Step extends ObjectShape<infer F>
    ? ObjectValue<{ [Key in keyof F as F[Key] extends { toNode: string } ? Key : never]: F[Key] }>
    : never;

export type RunClaimFields = ClaimFieldsOf<typeof RUN_STEP>;
export type AgentClaimFields = ClaimFieldsOf<typeof AGENT_STEP>;

/** A field, and what it means to the node. */
export interface ClaimField {
  key: string;
  schema: JsonSchema;
  means: string;
  required: boolean;
}

/** What the claim of a step of this kind gives to the node. */
export function claimFields({ declared }: { declared: { fields: StepFields } }): ClaimField[] {
  return Object.entries(declared.fields).flatMap(([key, { shape, required, toNode }]) =>
    toNode === false ? [] : [{ key, schema: shape.schema, means: toNode, required: required !== undefined }],
  );
}

/** The names of all fields that any claim gives to a node. */
export const CLAIM_FIELDS: readonly string[] = [
  ...new Set([...claimFields(RUN_STEP), ...claimFields(AGENT_STEP)].map(({ key }) => key)),
];
