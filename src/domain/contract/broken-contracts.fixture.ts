import type { BrokenContract } from './broken/broken-contract.fixture.js';
import { BROKEN_REFERENCES } from './broken/broken-references.fixture.js';
import { BROKEN_STEPS } from './broken/broken-steps.fixture.js';
import { BROKEN_TOP_LEVEL } from './broken/broken-top-level.fixture.js';

/** One contract per rule, each with exactly one fault. */
export const BROKEN_CONTRACTS: readonly BrokenContract[] = [...BROKEN_TOP_LEVEL, ...BROKEN_STEPS, ...BROKEN_REFERENCES];
