import { type DynamicModule, Global, Module } from '@nestjs/common';
import { Tokens } from './access/tokens.js';
import { Config } from './config/config.js';
import { Database } from './database/database.js';
import { Hints } from './database/hints.js';
import { Judging } from './judging/judging.js';
import { Lifecycle } from './lifecycle.js';
import { Metrics } from './metrics/metrics.js';

/** Plumbing that every room may use: it knows nothing of runs. */
@Global()
@Module({})
export class PlatformModule {
  static register(config: Config): DynamicModule {
    return {
      module: PlatformModule,
      providers: [{ provide: Config, useValue: config }, Database, Hints, Judging, Lifecycle, Metrics, Tokens],
      exports: [Config, Database, Hints, Judging, Lifecycle, Metrics],
    };
  }
}
