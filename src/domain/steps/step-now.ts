import type { StepKind } from '../contract/contract.js';
import type { StepState } from '../states.js';

/** What a step left behind when it ended. */
export interface StepResult {
  exit_code?: number;
  produced?: string[];
  error?: string;
  /** What a person answered, and who. */
  answer?: unknown;
  answered_by?: string;
  /** The step that a dispatch or an acquire chose. */
  branch?: string;
}

/** A step as it stands within a transaction that has locked its run. */
export interface StepNow {
  seq: number;
  id: string;
  kind: StepKind;
  uses: string | null;
  node_id: string;
  state: StepState;
  needs: string[];
  attempt: number;
  chosen: boolean;
  result: StepResult | null;
  /** Where in the order of the run's ends this one stands; null while it has not ended. */
  ended: number | null;
}

/** How an attempt of a step is over. */
export interface EndedAttempt {
  seq: number;
  attempt: number;
  state: 'DONE' | 'FAILED' | 'ROLLED_BACK';
  result: StepResult | null;
}
