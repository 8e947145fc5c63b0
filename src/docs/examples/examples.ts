import { answerAsk, listAsks } from './ask-operations.js';
import type { OperationExamples } from './example.js';
import { advertiseNode, claimStep, getQueue, listCapabilities, listNodes, reportResult } from './fleet-operations.js';
import {
  cancelRun,
  downloadBlob,
  downloadRecord,
  dryRun,
  getRun,
  listRuns,
  readLog,
  submitRun,
} from './run-operations.js';
import { explainProblem, index, livez, metrics, readyz } from './server-operations.js';
import { appendLog, uploadOutput } from './upload-operations.js';

/** The examples of every operation, by its operationId and in reading order. */
export const EXAMPLES: Record<string, OperationExamples> = {
  submitRun,
  dryRun,
  listRuns,
  getRun,
  cancelRun,
  downloadRecord,
  downloadBlob,
  readLog,
  getQueue,
  advertiseNode,
  listNodes,
  listCapabilities,
  claimStep,
  reportResult,
  uploadOutput,
  appendLog,
  listAsks,
  answerAsk,
  index,
  explainProblem,
  livez,
  readyz,
  metrics,
};
