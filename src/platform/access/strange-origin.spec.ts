import { describe, expect, it } from '@jest/globals';
import { type Origins, strangeOrigin } from './strange-origin.js';

const judged = (told: Partial<Origins>, listensOn = '127.0.0.1'): string | undefined =>
  strangeOrigin(
    { method: 'POST', host: 'localhost:3000', origin: undefined, site: undefined, mode: undefined, ...told },
    listensOn,
  );

describe('where a request comes from', () => {
  it.each(['localhost', 'LOCALHOST:3000', '127.0.0.1:3000', '127.8.9.1', '[::1]:3000', '[::1]', undefined])(
    'Host %s is this machine',
    (host) => expect(judged({ host })).toBeUndefined(),
  );

  it.each([
    'evil.example',
    'localhost.evil.example',
    '127.0.0.1.evil.example:3000',
    'evil.example:127.0.0.1',
    '10.0.0.1',
    '[::2]',
    '::1',
    '',
    'localhost:3000@evil.example',
    '[127.0.0.1]evil.example',
    '0.0.0.0',
  ])('Host %j is not', (host) => expect(judged({ host })).toMatch(/Host/));

  it('Host may be the name it was told to listen on', () => {
    expect(judged({ host: 'Bench:3000' }, 'bench')).toBeUndefined();
  });

  it.each([
    ['a program', {}],
    ['a page of its own', { site: 'same-origin', origin: 'http://localhost:3000' }],
    ['the address bar', { site: 'none', mode: 'navigate', method: 'GET' }],
    ['a link on another page', { site: 'cross-site', mode: 'navigate', method: 'GET' }],
    ['an old browser, from a page of its own', { origin: 'http://localhost:3000' }],
  ])('%s may speak', (_who, told) => expect(judged(told)).toBeUndefined());

  it.each([
    ['a page of another site', { site: 'cross-site', mode: 'cors' }],
    ['a picture on another page', { site: 'cross-site', mode: 'no-cors', method: 'GET' }],
    ['a form on another page', { site: 'cross-site', mode: 'navigate' }],
    ['another port of this machine', { site: 'same-site', mode: 'cors', origin: 'http://localhost:8080' }],
    ['an old browser, from another page', { origin: 'https://evil.example' }],
    ['an old browser, from another port', { origin: 'http://localhost:8080' }],
    ['an old browser, from a file', { origin: 'null' }],
  ])('%s may not', (_who, told) => expect(judged(told)).toMatch(/^a page of another (site|origin) sent the request$/));
});
