import { type DynamicModule, Module } from '@nestjs/common';
import { AsksModule } from './asks/asks.module.js';
import { BodiesModule } from './bodies/bodies.module.js';
import { DocsModule } from './docs/docs.module.js';
import { ExecutionModule } from './execution/execution.module.js';
import { HealthModule } from './health/health.module.js';
import { NodesModule } from './nodes/nodes.module.js';
import type { Config } from './platform/config/config.js';
import { PlatformModule } from './platform/platform.module.js';
import { QueueModule } from './queue/queue.module.js';
import { ReaperModule } from './reaper/reaper.module.js';
import { RecordsModule } from './records/records.module.js';
import { RunsModule } from './runs/runs.module.js';
import { SubmissionModule } from './submission/submission.module.js';

/** The only file that knows all modules. */
@Module({})
export class AppModule {
  static register(config: Config): DynamicModule {
    return {
      module: AppModule,
      imports: [
        PlatformModule.register(config),
        RecordsModule,
        BodiesModule,
        QueueModule,
        RunsModule,
        SubmissionModule,
        NodesModule,
        ExecutionModule,
        AsksModule,
        ReaperModule,
        HealthModule,
        DocsModule,
      ],
    };
  }
}
