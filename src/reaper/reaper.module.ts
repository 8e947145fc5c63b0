import { Module } from '@nestjs/common';
import { LeasesModule } from '../leases/leases.module.js';
import { QueueModule } from '../queue/queue.module.js';
import { RecordsModule } from '../records/records.module.js';
import { ExpiredRuns } from './expired-runs.js';
import { LeftoverLeases, LeftoverUploads, OldChanges, UnsealedRecords } from './leftovers.js';
import { OverdueAsks, OverdueSteps } from './overdue.js';
import { REAPER_PARTS } from './reaper-part.js';
import { ReaperPass } from './reaper-pass.js';
import { Reaper } from './reaper.js';
import { CompareSettings } from './servers/compare-settings.js';
import { LostServers } from './servers/lost-servers.js';
import { ServerPresence } from './servers/server-presence.js';
import { TouchServer } from './servers/touch-server.js';
import { UnbegunSteps } from './unbegun-steps.js';

/** In the order of a pass: what is past its time, then who has fallen silent, then what is left over. */
const PARTS = [
  OverdueAsks,
  OverdueSteps,
  ExpiredRuns,
  UnbegunSteps,
  LeftoverLeases,
  LostServers,
  OldChanges,
  LeftoverUploads,
  UnsealedRecords,
];

@Module({
  imports: [LeasesModule, QueueModule, RecordsModule],
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
