import { Module } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import { HealthController } from './health.controller.js';
import { StoredFigures } from './stored-figures.js';

@Module({
  // A failed check is an answer, not an event for the log.
  imports: [TerminusModule.forRoot({ logger: false })],
  controllers: [HealthController],
  providers: [StoredFigures],
})
export class HealthModule {}
