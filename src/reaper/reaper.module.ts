import { Module } from '@nestjs/common';
import { QueueModule } from '../queue/queue.module.js';
import { RecordsModule } from '../records/records.module.js';
import { ExpiredRuns } from './expired-runs.js';
import { LeftoverLeases } from './leftover-leases.js';
import { LeftoverUploads } from './leftover-uploads.js';
import { OldChanges } from './old-changes.js';
import { OverdueAsks } from './overdue-asks.js';
import { OverdueSteps } from './overdue-steps.js';
import { REAPER_PARTS } from './reaper-part.js';
import { Reaper } from './reaper.js';
import { ReaperPass } from './reaper-pass.js';
import { CompareSettings } from './servers/compare-settings.js';
import { LostServers } from './servers/lost-servers.js';
import { ServerPresence } from './servers/server-presence.js';
import { TouchServer } from './servers/touch-server.js';
import { UnsealedRecords } from './unsealed-records.js';

/** In the order of a pass: whoever waits for too long first, then whoever has fallen silent, then what is left over. */
const PARTS = [
  OverdueAsks,
  OverdueSteps,
  ExpiredRuns,
  LeftoverLeases,
  LostServers,
  OldChanges,
  LeftoverUploads,
  UnsealedRecords,
];

@Module({
  imports: [QueueModule, RecordsModule],
  providers: [
    ...PARTS,
    { provide: REAPER_PARTS, inject: PARTS, useFactory: (...parts: unknown[]) => parts },
    CompareSettings,
    Reaper,
    ReaperPass,
    ServerPresence,
    TouchServer,
  ],
  exports: [Reaper, ReaperPass, ServerPresence],
})
export class ReaperModule {}
