import type { FastifyInstance } from 'fastify';

/** Which methods each path is served with: Fastify answers 404 where the method is wrong, and this tells the two apart. */
export class Routes {
  readonly #patterns = new Map<string, { path: RegExp; methods: Set<string> }>();

  /** Notes every route that is registered after this call. */
  constructor(fastify: FastifyInstance) {
    fastify.addHook('onRoute', ({ url, method }) => {
      const entry = this.#patterns.get(url) ?? { path: toPattern(url), methods: new Set() };
      for (const one of [method].flat()) entry.methods.add(one);
      this.#patterns.set(url, entry);
    });
  }

  /** The methods served at this path, sorted; none where nothing is served there. */
  methodsAt(path: string): string[] {
    const found = [...this.#patterns.values()].filter((entry) => entry.path.test(path));
    return [...new Set(found.flatMap((entry) => [...entry.methods]))].sort();
  }
}

function toPattern(url: string): RegExp {
  const parts = url.split('/').map((part) => {
    if (part.startsWith(':')) return '[^/]+';
    if (part === '*') return '.*';
    return part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  });
  return new RegExp(`^${parts.join('/')}$`);
}
