import { describe, expect, it } from '@jest/globals';
import fastify from 'fastify';
import { readConfig } from '../config/read-config.js';
import { guardCallers } from './guard-callers.js';
import { Tokens } from './tokens.js';

const guarded = () => {
  const server = fastify();
  const config = readConfig({});
  guardCallers(server, new Tokens(config), config);
  return server;
};
const handler = async (): Promise<string> => 'served';

describe('a route that does not say who may call it', () => {
  it.each(['/v1/secrets', '/', '/docs2', '/openapi.json/more', '/:any'])('%s keeps the server from starting', (url) => {
    const server = guarded();
    expect(() => server.get(url, handler)).toThrow(`GET ${url} does not say who may call it: see MayCall`);
  });

  it.each(['/docs', '/docs/*', '/openapi.json'])('%s is a page of a package, and for anybody', async (url) => {
    const server = guarded();
    server.get(url, handler);
    expect((await server.inject(url)).body).toBe('served');
  });

  it('is no route that says so, nor its HEAD', async () => {
    const server = guarded();
    server.get('/v1/runs', { config: { mayCall: ['operator'] } }, handler);
    expect((await server.inject({ method: 'HEAD', url: '/v1/runs' })).statusCode).toBe(200);
  });
});
