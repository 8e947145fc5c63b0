import type { OperationExamples } from './example.js';
import { advertiseNode, claimStep, getQueue, listCapabilities, listNodes, reportResult } from './fleet-operations.js';
import { cancelRun, downloadRecord, dryRun, getRun, listRuns, submitRun } from './run-operations.js';
import { explainProblem, index, livez, metrics, readyz } from './server-operations.js';

/** The examples of every operation, by its operationId and in reading order. */
export const EXAMPLES: Record<string, OperationExamples> = {
  submitRun,
  dryRun,
  listRuns,
  getRun,
  cancelRun,
  downloadRecord,
  getQueue,
  advertiseNode,
  listNodes,
  listCapabilities,
  claimStep,
  reportResult,
  index,
  explainProblem,
  livez,
  readyz,
  metrics,
};
