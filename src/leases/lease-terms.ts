import { Injectable } from '@nestjs/common';
import { Config } from '../platform/config/config.js';

/** On what terms a run gets nodes. */
@Injectable()
export class LeaseTerms {
  /** The first life of a lease, in seconds. */
  readonly ttlSeconds: number;
  /** The most nodes that one run may hold; 0: no cap. */
  readonly maxLeases: number;

  constructor({ leaseTtlSeconds, maxLeasesPerRun }: Config) {
    this.ttlSeconds = leaseTtlSeconds;
    this.maxLeases = maxLeasesPerRun;
  }
}
