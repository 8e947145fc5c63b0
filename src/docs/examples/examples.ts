import { answerAsk, listAsks } from './ask-operations.js';
import type { OperationExamples } from './example.js';
import {
  advertiseNode,
  claimStep,
  forgetNode,
  getNode,
  getQueue,
  holdNode,
  liftHold,
  listCapabilities,
  listGrants,
  listNodes,
  reportResult,
} from './fleet-operations.js';
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
import { getServerInfo, explainProblem, livez, metrics, readyz } from './server-operations.js';
import { appendLog, uploadOutput } from './upload-operations.js';

/**
 * The examples of every operation, by its operationId and in reading order: who sends them one after the other to a server
 * that has nothing yet sees a run from its nodes to its record. Only the nonce of the lease is to be taken from the claim.
 */
export const EXAMPLES: Record<string, OperationExamples> = {
  advertiseNode,
  listNodes,
  getNode,
  holdNode,
  liftHold,
  listCapabilities,
  submitRun,
  listRuns,
  dryRun,
  getRun,
  getQueue,
  claimStep,
  appendLog,
  readLog,
  uploadOutput,
  reportResult,
  listAsks,
  answerAsk,
  downloadBlob,
  cancelRun,
  downloadRecord,
  listGrants,
  forgetNode,
  getServerInfo,
  explainProblem,
  livez,
  readyz,
  metrics,
};
