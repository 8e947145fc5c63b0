import { Injectable, Logger } from '@nestjs/common';
import { reviveAdverts } from '../../fleet/revive-adverts.sql.js';
import { lockLive } from '../../fleet/lock-live.sql.js';
import { extendLeases } from '../../leases/extend-leases.sql.js';
import { Config } from '../../platform/config/config.js';
import { Database } from '../../platform/database/database.js';
import { readOutage } from './read-outage.sql.js';
import { forgetStopped, seeServer } from './see-server.sql.js';

const DAY_SECONDS = 86_400;

/**
 * Says that this server is there. Where nobody was for so long that nodes could not renew what they hold, every advert and
 * lease that was alive when the last server was seen first gets its whole life again: nodes are given the time to speak
 * before anything is taken from them. Until it speaks such a node is live, and unavailable. Two may find the same outage:
 * the second changes nothing for who has spoken in between.
 */
@Injectable()
export class TouchServer {
  readonly #logger = new Logger('servers');

  constructor(
    private readonly database: Database,
    private readonly config: Config,
  ) {}

  async touch(serverId: string): Promise<void> {
    const { lifeSeconds, silenceSeconds } = this.config;
    const grace = await this.database.transaction('touch', async (tx) => {
      const outage = await readOutage(tx, silenceSeconds);
      if (outage !== undefined) await lockLive(tx, outage.last_seen);
      const nodes = outage === undefined ? 0 : await reviveAdverts(tx, outage.last_seen, silenceSeconds, lifeSeconds);
      const leases = outage === undefined ? 0 : await extendLeases(tx, outage.last_seen, lifeSeconds);
      await seeServer(tx, serverId);
      await forgetStopped(tx, DAY_SECONDS);
      return outage && { seconds: Math.round(outage.seconds), nodes, leases };
    });
    if (grace === undefined || grace.nodes + grace.leases === 0) return;
    this.#logger.warn({
      msg: 'no server was there to be spoken to: nodes are given the time to speak again',
      ...grace,
    });
  }
}
