import { Module } from '@nestjs/common';
import { LeaseTerms } from './lease-terms.js';

/** The terms on which leases are given; every module that grants nodes, or may do so, imports it. */
@Module({ providers: [LeaseTerms], exports: [LeaseTerms] })
export class LeasesModule {}
