import { Module } from '@nestjs/common';
import { FleetModule } from '../fleet/fleet.module.js';
import { LeasesModule } from '../leases/leases.module.js';
import { QueueModule } from '../queue/queue.module.js';
import { RecordsModule } from '../records/records.module.js';
import { RunsModule } from '../runs/runs.module.js';
import { AcceptContract } from './accept-contract.js';
import { AnswerSubmission } from './answer-submission.js';
import { CreateRun } from './create-run.js';
import { DryRunController } from './dry-run.controller.js';
import { DryRun } from './dry-run.js';
import { EnqueueRun } from './enqueue-run.js';
import { RejectRun } from './reject-run.js';
import { SubmissionController } from './submission.controller.js';
import { Submit } from './submit.js';

@Module({
  imports: [FleetModule, LeasesModule, QueueModule, RecordsModule, RunsModule],
  controllers: [SubmissionController, DryRunController],
  providers: [AcceptContract, AnswerSubmission, CreateRun, DryRun, EnqueueRun, RejectRun, Submit],
})
export class SubmissionModule {}
