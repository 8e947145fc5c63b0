import { describe, expect, it } from '@jest/globals';
import { readConfig } from './read-config.js';
import { differences, sharedSettings } from './shared-settings.js';

describe('the settings that servers of one database share', () => {
  it('are told by the names of their variables, and nobody is told an address or a secret', () => {
    const config = readConfig({
      DATABASE_URL: 'postgres://me:hidden@localhost/x',
      MEDIATOR_MAX_LEASES_PER_RUN: '3',
      MEDIATOR_ASK_WEBHOOK_URL: 'http://hooks.example.org/hidden',
    });
    expect(sharedSettings(config)).toEqual({
      MEDIATOR_LEASE_TTL_SECONDS: 3600,
      MEDIATOR_RENEW_SECONDS: 60,
      MEDIATOR_NOT_AFTER_FACTOR: 3,
      MEDIATOR_REMEMBER_SECONDS: 3600,
      MEDIATOR_START_SECONDS: 600,
      MEDIATOR_QUARANTINE_AFTER: 5,
      MEDIATOR_MAX_LEASES_PER_RUN: 3,
      MEDIATOR_MAX_BLOB_BYTES: 10_485_760,
      MEDIATOR_MAX_LOG_BYTES: 10_485_760,
      MEDIATOR_MAX_RUN_BYTES: 1024 * 1024 * 1024,
      MEDIATOR_ASK_WEBHOOK_URL: 'set',
      MEDIATOR_ASK_WEBHOOK_SECRET: 'not set',
    });
  });

  it('differ where both know one and have it otherwise', () => {
    expect(differences({ A: 1, B: 2, ONLY_HERE: 3 }, { A: 1, B: 5, ONLY_THERE: 4 })).toEqual([
      { variable: 'B', here: 2, there: 5 },
    ]);
  });
});
