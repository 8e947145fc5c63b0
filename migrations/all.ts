import { Tables1790000000001 } from './0001-tables.js';
import { SealedRecords1790000000002 } from './0002-sealed-records.js';
import { Invariants1790000000003 } from './0003-invariants.js';
import { AsksAndUploads1790000000004 } from './0004-asks-and-uploads.js';
import { AsksInInvariants1790000000005 } from './0005-asks-in-invariants.js';
import { QueueHeads1790000000006 } from './0006-queue-heads.js';
import { LimitsOfARun1790000000007 } from './0007-limits-of-a-run.js';
import { PeriodsOfServers1790000000008 } from './0008-periods-of-servers.js';
import { EndedRuns1790000000009 } from './0009-ended-runs.js';
import { OneProcessSpeaks1790000000011 } from './0011-one-process-speaks.js';
import { Holds1790000000012 } from './0012-holds.js';
import { GrantsByTime1790000000013 } from './0013-grants-by-time.js';
import { RememberedNodes1790000000014 } from './0014-remembered-nodes.js';
import { RunsByLife1790000000015 } from './0015-runs-by-life.js';
import { BackToTheQueue1790000000016 } from './0016-back-to-the-queue.js';
import { WorkThatDoesNotBegin1790000000017 } from './0017-work-that-does-not-begin.js';
import { ValidReasons1790000000018 } from './0018-valid-reasons.js';

/** In their order. A migration that has been released is never changed: the next one changes what it made. */
export const MIGRATIONS = [
  Tables1790000000001,
  SealedRecords1790000000002,
  Invariants1790000000003,
  AsksAndUploads1790000000004,
  AsksInInvariants1790000000005,
  QueueHeads1790000000006,
  LimitsOfARun1790000000007,
  PeriodsOfServers1790000000008,
  EndedRuns1790000000009,
  OneProcessSpeaks1790000000011,
  Holds1790000000012,
  GrantsByTime1790000000013,
  RememberedNodes1790000000014,
  RunsByLife1790000000015,
  BackToTheQueue1790000000016,
  WorkThatDoesNotBegin1790000000017,
  ValidReasons1790000000018,
];
