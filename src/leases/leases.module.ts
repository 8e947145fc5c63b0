import { Module } from '@nestjs/common';
import { LeaseTerms } from './lease-terms.js';

/** Whoever grants nodes, or ends what holds them, imports it: on what terms leases are given. */
@Module({ providers: [LeaseTerms], exports: [LeaseTerms] })
export class LeasesModule {}
