import { expect } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import type { Answer } from '../../support/http.js';
import type { TestMediator } from '../../support/mediator.js';
import type { PlayedClaim } from '../../support/played-node.js';
import { brokenPromises, waitingBesideRoom } from '../kept-promises.js';
import { CAP, FAULTS, FIRST_LIFE, LIFE, type Model, REMEMBER, RENEW, START } from '../model/model.js';
import { unlessDeadlocked } from '../unless-deadlocked.js';
import { queueOf, shownBy } from './shown-by.js';

/** The model's unit of time, in seconds: far longer than any sequence takes, so that only the clock's moves count. */
export const HALF_HOUR = 1800;

/** The real server beside the model: it is asked the same, and must then show the same. */
export class ComparedServer {
  /** In the order of the model's claims. */
  readonly claims: PlayedClaim[] = [];
  /** Of records that have been sealed: they stay as they are. */
  readonly #digests = new Map<string, string>();

  /** How many requests were answered. */
  asked = 0;

  constructor(readonly server: TestMediator) {}

  static readonly ENV = {
    MEDIATOR_LEASE_TTL_SECONDS: String(FIRST_LIFE * HALF_HOUR),
    MEDIATOR_RENEW_SECONDS: String(RENEW * HALF_HOUR),
    MEDIATOR_NOT_AFTER_FACTOR: String(LIFE / RENEW),
    MEDIATOR_REMEMBER_SECONDS: String(REMEMBER * HALF_HOUR),
    MEDIATOR_START_SECONDS: String(START * HALF_HOUR),
    MEDIATOR_QUARANTINE_AFTER: String(FAULTS),
    MEDIATOR_MAX_LEASES_PER_RUN: String(CAP),
  };

  async send(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    this.asked += 1;
    return this.server.send(method, path, { ...(body !== undefined && { body }), headers });
  }

  /** Forgets all runs and nodes, past the triggers, which guard rows. */
  async clear(): Promise<void> {
    const { sql } = this.server.database;
    const empty = (): Promise<unknown> => sql('TRUNCATE runs, nodes, ask_notices, blobs, blob_chunks, events CASCADE');
    // The server does a little by itself: it reads what is due, and looks for notices.
    await eventually('the tables are empty', () => unlessDeadlocked(empty));
  }

  /** The promises, and that both show the same. */
  async compare(model: Model): Promise<void> {
    const { database } = this.server;
    const [seen, broken, beside, queue] = await Promise.all([
      database.sql<{ seen: any }>(SEEN, [HALF_HOUR]),
      brokenPromises(database),
      waitingBesideRoom(database),
      this.send('GET', '/v1/queue?limit=200'),
    ]);
    const { digests, ...tables } = seen[0]!.seen;
    expect(tables).toEqual(shownBy(model));
    expect(broken).toEqual([]);
    expect(beside.filter((run) => !model.runs.get(run)!.wide)).toEqual([]);
    const shown = queue.body.items.map(({ run_id, waiting: { position, reason, ahead } }: any) => {
      return { run_id, position, reason, ahead };
    });
    expect({ depth: queue.body.depth, shown }).toEqual({ depth: shown.length, shown: queueOf(model) });
    for (const [run_id, digest] of Object.entries<string>(digests)) {
      expect([run_id, digest]).toEqual([run_id, this.#digests.get(run_id) ?? digest]);
      this.#digests.set(run_id, digest);
    }
  }
}

/** Times as half hours that are left; of the past nothing is left. */
const SEEN = `
  SELECT json_build_object(
    'runs', (SELECT coalesce(json_agg(json_build_object(
               'run_id', run_id, 'state', state, 'reason', verdict->>'reason',
               'assigned', (SELECT coalesce(json_agg(json_build_array(
                              role->>'as', (SELECT json_agg(node->>'node_id') FROM json_array_elements(role->'nodes') node))), '[]')
                              FROM json_array_elements(assigned) role),
               'steps', (SELECT coalesce(json_agg(json_build_object(
                           'seq', s.seq, 'state', s.state, 'attempt', s.attempt, 'chosen', s.chosen, 'node_id', s.node_id,
                           'by', CASE s.state WHEN 'CLAIMED' THEN s.instance END) ORDER BY s.seq), '[]')
                           FROM steps s WHERE s.run_id = r.run_id)) ORDER BY created_at, seq), '[]') FROM runs r),
    'leases', (SELECT coalesce(json_agg(json_build_object(
                 'node_id', node_id, 'run_id', run_id,
                 'roles', (SELECT json_agg(role ORDER BY role COLLATE "C") FROM unnest(roles) role),
                 'left', greatest(0, ceil(extract(epoch FROM not_after - clock_timestamp()) / $1::int))) ORDER BY node_id), '[]')
                 FROM leases),
    'nodes', (SELECT coalesce(json_agg(json_build_object(
                'node_id', node_id, 'instance', instance, 'drain', drain, 
                'hold', CASE WHEN hold_evidence IS NOT NULL THEN 'mediator' WHEN held_since IS NOT NULL THEN 'person' END,
                'faults', cardinality(faults),
                'left', greatest(0, ceil(extract(epoch FROM expires_at - clock_timestamp()) / $1::int))) ORDER BY node_id), '[]')
                FROM nodes),
    'digests', (SELECT coalesce(json_object_agg(run_id, digest), '{}') FROM records WHERE digest IS NOT NULL)) AS seen`;
