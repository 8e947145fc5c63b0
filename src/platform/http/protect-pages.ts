import type { FastifyInstance } from 'fastify';
import helmet from 'helmet';

/**
 * Headers by which a browser keeps the pages under /docs to their own program, and what is answered out of the pages of
 * others. Swagger UI draws with styles in its elements; its program comes in files, and no other is run. Whether there is
 * TLS is known to whatever stands in front of this server: it says nothing of it.
 */
export function protectPages(fastify: FastifyInstance): void {
  // Its plugin for Fastify would work the headers out anew for each request.
  const protect = helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        scriptSrc: ["'self'"],
        styleSrc: ["'self'", "'unsafe-inline'"],
        imgSrc: ["'self'", 'data:'],
        fontSrc: ["'self'", 'data:'],
        connectSrc: ["'self'"],
        baseUri: ["'none'"],
        formAction: ["'self'"],
        frameAncestors: ["'none'"],
      },
    },
    strictTransportSecurity: false,
    // Without any referrer an old browser would name no origin either, and its own page would not be known as one.
    referrerPolicy: { policy: 'same-origin' },
    frameguard: { action: 'deny' },
  });
  fastify.addHook('onRequest', (request, reply, done) => protect(request.raw, reply.raw, () => done()));
}
