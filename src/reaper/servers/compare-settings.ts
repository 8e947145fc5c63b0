import { Injectable, Logger } from '@nestjs/common';
import { Config } from '../../platform/config/config.js';
import { differences, sharedSettings } from '../../platform/config/shared-settings.js';
import { Database } from '../../platform/database/database.js';
import { readNeighbours } from './servers.sql.js';

/** Warns, once at start, of every living server of the same database that has been told something else than this one. */
@Injectable()
export class CompareSettings {
  readonly #logger = new Logger('servers');

  constructor(
    private readonly database: Database,
    private readonly config: Config,
  ) {}

  async compare(serverId: string): Promise<void> {
    const here = sharedSettings(this.config);
    for (const { server_id, settings } of await readNeighbours(this.database, serverId, this.config.lifeSeconds)) {
      const differing = differences(here, settings);
      if (differing.length === 0) continue;
      const each = differing.map(({ variable, here, there }) => `${variable} is ${here} here and ${there} there`);
      this.#logger.warn({
        msg: `another server of this database has other settings, and all should have the same: ${each.join('; ')}`,
        server_id,
        differing,
      });
    }
  }
}
