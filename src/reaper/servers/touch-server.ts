import { Injectable, Logger } from '@nestjs/common';
import { lockExisting, rememberLonger, reviveAdverts } from '../../fleet/fleet.sql.js';
import { extendLeases, lockAlive } from '../../leases/leases.sql.js';
import { Config } from '../../platform/config/config.js';
import { sharedSettings } from '../../platform/config/shared-settings.js';
import { Database } from '../../platform/database/database.js';
import type { Tx } from '../../platform/database/queryable.js';
import { type Outage, readOutage, forgetStopped, seeServer } from './servers.sql.js';

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
    const { renewSeconds, notAfterFactor: factor, rememberSeconds } = this.config;
    const settings = sharedSettings(this.config);
    const grace = await this.database.transaction('touch', async (tx) => {
      const outage = await tx.ask(readOutage(this.config));
      const given = outage && (await giveTime(tx, outage, rememberSeconds));
      await tx.ask(seeServer({ serverId, renewSeconds, factor, settings }));
      await tx.ask(forgetStopped(DAY_SECONDS));
      return given;
    });
    if (grace === undefined || grace.nodes + grace.leases === 0) return;
    const { seconds, nodes, leases } = grace;
    this.#logger.warn({
      msg: 'no server was seen for a while; nodes get time to advertise before anything is taken from them',
      seconds,
      nodes,
      leases,
    });
  }
}

/** Both are locked first: the life that is given counts from behind the wait. */
async function giveTime(
  tx: Tx,
  { last_seen, silent_since, life_seconds, seconds }: Outage,
  rememberSeconds: number,
): Promise<{ seconds: number; nodes: number; leases: number }> {
  const [, , nodes, leases] = await tx.ask(
    lockExisting(last_seen, rememberSeconds),
    lockAlive(last_seen),
    reviveAdverts(last_seen, silent_since, life_seconds),
    extendLeases(last_seen, life_seconds),
    rememberLonger(last_seen, rememberSeconds),
  );
  return { seconds: Math.round(seconds), nodes, leases };
}
