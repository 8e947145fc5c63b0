/** A contract as it was submitted: valid, and unchanged. Defaults are read by whoever needs them, never written into it. */
export interface Contract {
  version?: 1;
  run_id?: string;
  work?: Record<string, unknown>;
  requires: Requirement[];
  spread?: boolean;
  steps: StepSpec[];
  success_when?: Condition[];
}

/** What a role of the run needs: `count` (1 where absent) distinct nodes that offer `capability` with every one of `attrs`. */
export interface Requirement {
  as: string;
  capability: string;
  count?: number;
  attrs?: Record<string, string>;
}

export interface StepSpec {
  id: string;
  uses?: string;
  run?: string[];
  agent?: Record<string, unknown>;
  acquire?: AcquireSpec;
  ask?: AskSpec;
  /** Absent is not the same as `[]`: see `needsOf`. */
  needs?: string[];
  in?: string[];
  out?: string[];
  /** Output name → JSON Schema (2020-12). */
  schema?: Record<string, unknown>;
  env?: string[];
  timeout_seconds?: number;
  allow_failure?: boolean;
  release?: string[];
  dispatch?: { from: string; to: string[] };
  loop?: { back_to: string; max: number; until: { exit_code?: number; produced?: string[] } };
}

export interface AcquireSpec {
  want: Requirement;
  acquired: string;
  unavailable: string;
}

export interface AskSpec {
  prompt: string;
  answerers?: string[];
  timeout_seconds?: number;
  /** Taken as the answer when the time is over. */
  default?: Record<string, unknown>;
  show?: string[];
}

export interface Condition {
  step: string;
  exit_code?: number;
  produced?: string[];
}

export const STEP_KINDS = ['run', 'agent', 'acquire', 'ask'] as const;
export type StepKind = (typeof STEP_KINDS)[number];

/** One thing that is wrong with what was sent: where (a JSON pointer, RFC 6901) and a sentence that says what would be right. */
export interface Fault {
  pointer: string;
  detail: string;
}
