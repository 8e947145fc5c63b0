import fc from 'fast-check';
import { type DocumentedOperation, OPERATIONS } from '../../support/openapi.js';
import { CONTRACTS } from './contracts-arbitrary.js';
import { arbitraryOf } from './schema-arbitrary.js';

/** What will be asked, drawn before the server has said anything; the rolls decide what of its answers goes into it. */
export interface Plan {
  operation: DocumentedOperation;
  operationId: string;
  /** Values that the document allows, by the place and name of the parameter: `query limit`. */
  values: Record<string, unknown>;
  /** Undefined where the operation has no JSON body. */
  body: unknown;
  rolls: number[];
}

/** How often each is drawn, where that is not once: what moves runs on is drawn more often than what looks at them. */
const WEIGHTS: Record<string, number> = {
  submitRun: 6,
  cancelRun: 2,
  advertiseNode: 4,
  claimStep: 7,
  reportResult: 5,
  uploadOutput: 5,
  appendLog: 4,
  listAsks: 2,
  answerAsk: 4,
  getRun: 3,
  downloadRecord: 2,
  downloadBlob: 3,
  readLog: 4,
};

/** The plans that belong to a seed. */
export function plansOf(seed: number, count: number): Plan[] {
  const arbitrary = fc.oneof(
    ...OPERATIONS.map((operation) => ({
      weight: WEIGHTS[operation.operation.operationId as string] ?? 1,
      arbitrary: planOf(operation),
    })),
  );
  return fc.sample(arbitrary, { seed, numRuns: count });
}

function planOf(operation: DocumentedOperation): fc.Arbitrary<Plan> {
  const { operationId, parameters, requestBody } = operation.operation;
  const values = Object.fromEntries(
    parameters.map(({ in: place, name, schema }: any) => [`${place} ${name}`, arbitraryOf(schema)]),
  );
  return fc.record({
    operation: fc.constant(operation),
    operationId: fc.constant(operationId as string),
    values: fc.record(values),
    body: bodyOf(operationId as string, requestBody?.content['application/json']?.schema),
    rolls: fc.array(fc.nat({ max: 0x7fffffff }), { minLength: 40, maxLength: 40, size: 'max' }),
  });
}

function bodyOf(operationId: string, schema: any): fc.Arbitrary<unknown> {
  if (schema === undefined) return fc.constant(undefined);
  const documented = arbitraryOf(schema);
  const takesContract = operationId === 'submitRun' || operationId === 'dryRun';
  return takesContract
    ? fc.oneof({ weight: 9, arbitrary: CONTRACTS }, { weight: 1, arbitrary: documented })
    : documented;
}
