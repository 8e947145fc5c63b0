import { type DynamicModule, Global, Module } from '@nestjs/common';
import { Tokens } from './access/tokens.js';
import { Config } from './config/config.js';
import { Database } from './database/database.js';
import { Judging } from './judging/judging.js';
import { Lifecycle } from './lifecycle.js';
import { Metrics } from './metrics/metrics.js';
import { Notifier } from './notifier/notifier.js';

/** Plumbing that every room may use: it knows nothing of runs. */
@Global()
@Module({})
export class PlatformModule {
  static register(config: Config): DynamicModule {
    return {
      module: PlatformModule,
      providers: [{ provide: Config, useValue: config }, Database, Judging, Lifecycle, Metrics, Notifier, Tokens],
      exports: [Config, Database, Judging, Lifecycle, Metrics, Notifier],
    };
  }
}
