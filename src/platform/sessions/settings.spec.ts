import { describe, expect, it } from '@jest/globals';
import { unfitnessOf } from './judge-session.js';
import { optionsBehind, SETTINGS } from './settings.js';

const facts = { version: 150_012, encoding: 'UTF8', settings: { ...SETTINGS }, recovering: false, read_only: false };

describe('what sessions rely on', () => {
  it('goes behind what somebody else wants, so that it counts', () => {
    expect(optionsBehind('-c lock_timeout=1')).toMatch(/^-c lock_timeout=1 -c lock_timeout=2s /);
    expect(optionsBehind(undefined)).toMatch(/^-c lock_timeout=2s /);
  });

  it('is written so that a blank does not end a value', () => {
    expect(optionsBehind('')).toContain('-c default_transaction_isolation=read\\ committed -c');
    expect(optionsBehind('')).toContain('-c DateStyle=ISO,\\ MDY -c');
  });

  it('is enough where it holds', () => {
    expect(unfitnessOf(facts)).toBeUndefined();
  });

  it.each([
    [{ version: 140_011 }, /^the database is PostgreSQL 14: the Mediator needs 15 or newer$/],
    [{ encoding: 'SQL_ASCII' }, /^the database has the encoding SQL_ASCII: .*CREATE DATABASE/],
    [{ settings: { ...SETTINGS, jit: 'on' } }, /do not arrive \(jit is on instead of off\): .*DATABASE_URL/],
    [
      { settings: {} },
      /do not arrive \(lock_timeout is undefined instead of 2s and \d+ more\)|session_replication_role/,
    ],
  ])('M6: is said to be missing in a sentence: %j', (wrong, sentence) => {
    expect(unfitnessOf({ ...facts, ...wrong })).toMatch(sentence);
  });
});
