import { expect } from '@jest/globals';
import fc from 'fast-check';
import type { Model, ModelAdvert } from '../model/model.js';
import { moveClock } from '../../support/move-clock.js';
import { NODES, OFFERS } from '../small-fleet.js';
import { command, type Command, picked } from './command.js';
import { type ComparedServer, HALF_HOUR } from './compared-server.js';

const node = fc.constantFrom(...NODES);
/** Mostly none: a fleet that drains does nothing. */
const drain = fc.constantFrom('', '', '', '', '', '', 'graceful', 'at-boundary', 'sideways');
/** Mostly a process does not count its adverts. */
const seq = fc.constantFrom(undefined, undefined, undefined, 1, 2, 3);

async function advertise(model: Model, real: ComparedServer, advert: ModelAdvert): Promise<void> {
  const understood = advert.drain === 'sideways' ? '' : advert.drain;
  const outcome = model.advertise({ ...advert, drain: understood });
  const { status, body } = await real.send('POST', '/v1/nodes', advert);
  if (outcome === 'stale_instance') return void expect([status, body.code]).toEqual([409, outcome]);
  const lease = model.leases.get(advert.node_id);
  expect([status, body.drain, body.leases.map(({ run_id }: any) => run_id)]).toEqual([
    200,
    model.nodes.get(advert.node_id)!.drain,
    lease ? [lease.run_id] : [],
  ]);
}

const advertOf = (advert: ModelAdvert): Command =>
  command(`advert ${JSON.stringify(advert)}`, (model, real) => advertise(model, real, advert));

/** Nodes that have much to offer, to begin with. */
export const fleets: fc.Arbitrary<Command[]> = fc
  .array(fc.subarray(OFFERS, { minLength: 2 }), { minLength: 2, maxLength: 4, size: 'max' })
  .map((fleet) =>
    fleet.map((capabilities, at) => advertOf({ node_id: NODES[at]!, capabilities, instance: 'i1', drain: '' })),
  );

export const adverts: fc.Arbitrary<Command> = fc
  .record({
    node_id: node,
    capabilities: fc.subarray(OFFERS, { maxLength: 4 }),
    instance: fc.constantFrom('', 'i1', 'i2', 'i3', 'i4'),
    drain,
    seq,
  })
  .map(advertOf);

/** A node that is known says again what it said, but for its drain, and sometimes more, or as another instance. */
export const heartbeats: fc.Arbitrary<Command> = fc
  .record({
    at: fc.nat({ max: 4 }),
    drain,
    instance: fc.constantFrom(undefined, undefined, undefined, 'i1', 'i2', 'i3', 'i4', ''),
    seq,
    more: fc.subarray(OFFERS, { maxLength: 2 }),
  })
  .map((drawn) =>
    command(`heartbeat ${JSON.stringify(drawn)}`, async (model, real) => {
      const known = picked([...model.nodes.values()], drawn.at);
      if (known === undefined) return false;
      const { node_id, instance } = known;
      const capabilities = [...known.capabilities.slice(-10), ...drawn.more];
      return advertise(model, real, {
        node_id,
        capabilities,
        instance: drawn.instance ?? instance,
        drain: drawn.drain,
        seq: drawn.seq,
      });
    }),
  );

/** A node was not heard for as long as its advert lives; its lease may live longer. */
export const silences: fc.Arbitrary<Command> = node.map((node_id) =>
  command(`silence of ${node_id}`, async (model, real) => {
    const known = model.nodes.get(node_id);
    if (known === undefined) return false;
    known.until = Math.min(known.until, model.now);
    const { sql } = real.server.database;
    await sql('UPDATE nodes SET expires_at = least(expires_at, clock_timestamp()) WHERE node_id = $1', [node_id]);
  }),
);

/** A person takes a node out of service, or puts it back. */
export const holds: fc.Arbitrary<Command> = fc
  .record({ node_id: node, lifts: fc.boolean() })
  .map(({ node_id, lifts }) =>
    command(`${lifts ? 'lift' : 'hold'} ${node_id}`, async (model, real) => {
      const wanted = lifts ? model.lift(node_id) : model.hold(node_id);
      const path = `/v1/nodes/${node_id}/hold`;
      const { status, body } = await (lifts ? real.send('DELETE', path) : real.send('PUT', path, { reason: 'loud' }));
      const lease = model.leases.get(node_id)?.run_id;
      expect([status, wanted === 200 ? body.lease?.run_id : undefined]).toEqual([wanted, lease]);
    }),
  );

async function reap(model: Model, real: ComparedServer): Promise<void> {
  model.reap();
  expect((await real.server.reap()).errors).toBe(0);
}

export const passes: fc.Arbitrary<Command> = fc.constant(command('reaper', reap));

/** Time passes, and the reaper comes by; or somebody else is faster. */
export const clocks: fc.Arbitrary<Command> = fc
  .record({ halfHours: fc.integer({ min: 1, max: 7 }), reaps: fc.boolean() })
  .map(({ halfHours, reaps }) =>
    command(`${halfHours} half hours${reaps ? ', reaper' : ''}`, async (model, real) => {
      model.now += halfHours;
      await moveClock(real.server.database, halfHours * HALF_HOUR);
      if (reaps) await reap(model, real);
    }),
  );
