import { Injectable, Logger } from '@nestjs/common';
import { Config } from '../../platform/config/config.js';
import { Database } from '../../platform/database/database.js';
import type { ReaperPart } from '../reaper-part.js';
import { ServerPresence } from './server-presence.js';
import { deleteLost, findLost } from './servers.sql.js';

/** Removes the row of a server that has fallen silent: it may have died between a commit and its wake, so the pass wakes. */
@Injectable()
export class LostServers implements ReaperPart<string> {
  readonly #logger = new Logger('servers');
  readonly name = 'servers';
  readonly wakes = 'server-lost';

  constructor(
    private readonly database: Database,
    private readonly config: Config,
    private readonly presence: ServerPresence,
  ) {}

  /** Not its own, however old it is: this process, or its database, may have stood still, and the row tells since when. */
  find(): Promise<string[]> {
    return this.database.ask(findLost(this.presence.serverId, this.config.lifeSeconds));
  }

  async reap(serverId: string): Promise<boolean> {
    const lost = await this.database.transaction('server-lost', (tx) =>
      tx.ask(deleteLost(serverId, this.config.lifeSeconds)),
    );
    if (lost) this.#logger.warn({ msg: 'another server was lost; this one sweeps in its place', server_id: serverId });
    return lost;
  }
}
