import { Controller, Get, Header } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { HealthCheck, type HealthCheckResult, HealthCheckService, HealthIndicatorService } from '@nestjs/terminus';
import { AnybodyMayCall } from '../platform/access/may-call.decorator.js';
import { Database } from '../platform/database/database.js';
import { Lifecycle } from '../platform/lifecycle.js';
import { LivezApi, MetricsApi, ReadyzApi } from './health.api.js';
import { Readiness } from './readiness.js';
import { StoredFigures } from './stored-figures.js';

@ApiTags('operation')
@Controller()
export class HealthController {
  readonly #readiness: Readiness;

  constructor(
    private readonly health: HealthCheckService,
    private readonly indicator: HealthIndicatorService,
    database: Database,
    private readonly lifecycle: Lifecycle,
    private readonly figures: StoredFigures,
  ) {
    this.#readiness = new Readiness(database);
  }

  /** The process turns; says nothing of the database. */
  @Get('livez')
  @AnybodyMayCall()
  @LivezApi()
  livez(): { status: 'ok' } {
    return { status: 'ok' };
  }

  /** The server takes requests: its database answers, it has started, and it is not stopping. */
  @Get('readyz')
  @AnybodyMayCall()
  @HealthCheck({ noCache: true, swaggerDocumentation: false })
  @ReadyzApi()
  readyz(): Promise<HealthCheckResult> {
    return this.health.check([
      () => {
        const server = this.indicator.check('server');
        const { phase } = this.lifecycle;
        return phase === 'ready' ? server.up() : server.down({ phase });
      },
      async () => {
        const database = this.indicator.check('database');
        const message = await this.#readiness.trouble();
        return message === undefined ? database.up() : database.down({ message });
      },
    ]);
  }

  /** Prometheus metrics; those that need the database are read once in 5 s, and left out while it is away. */
  @Get('metrics')
  @AnybodyMayCall()
  @MetricsApi()
  @Header('content-type', 'text/plain; version=0.0.4; charset=utf-8')
  metrics(): Promise<string> {
    return this.figures.text();
  }
}
