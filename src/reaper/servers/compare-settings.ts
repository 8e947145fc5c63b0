import { Injectable, Logger } from '@nestjs/common';
import { Config } from '../../platform/config/config.js';
import { differences, sharedSettings } from '../../platform/config/shared-settings.js';
import { Database } from '../../platform/database/database.js';
import { readNeighbours } from './servers.sql.js';

/** Warns, once at start, of every living server of the same database whose settings differ from those of this one. */
@Injectable()
export class CompareSettings {
  readonly #logger = new Logger('servers');

  constructor(
    private readonly database: Database,
    private readonly config: Config,
  ) {}

  async compare(serverId: string): Promise<void> {
    const here = sharedSettings(this.config);
    for (const { server_id, settings } of await this.database.ask(readNeighbours(serverId, this.config.lifeSeconds))) {
      const differing = differences(here, settings);
      if (differing.length === 0) continue;
      this.#logger.warn({
        msg: 'another server of this database has different settings; all should have the same',
        server_id,
        differing: differing.map(({ variable, here, there }) => `${variable} is ${here} here and ${there} there`),
      });
    }
  }
}
