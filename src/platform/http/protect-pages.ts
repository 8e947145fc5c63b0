import helmet from '@fastify/helmet';
import type { FastifyInstance } from 'fastify';

/**
 * Headers by which a browser keeps the pages under /docs to their own program, and what is answered out of the pages of
 * others. Swagger UI draws with styles in its elements; its program comes in files, and no other is run. Whether there is
 * TLS is known to whatever stands in front of this server: it says nothing of it.
 */
export async function protectPages(fastify: FastifyInstance): Promise<void> {
  await fastify.register(helmet, {
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
}
