/** Headers of answers that mean the same everywhere: components of the OpenAPI document. */
export const SHARED_HEADERS = {
  RequestId: {
    description: 'The id of the request: the one that was sent, else a new one. It names the request in the log.',
    required: true,
    schema: { type: 'string', maxLength: 128 },
    example: '6f1c9a52-1f0e-4f3b-9a53-0d6c2b1f7a10',
  },
  CacheControl: {
    description:
      '`no-store`; `private, no-cache` where an ETag is answered to GET, so that the answer may be kept and is asked for anew each time.',
    required: true,
    schema: { type: 'string' },
    example: 'no-store',
  },
  Authenticate: {
    description:
      'By which scheme to send a token: `Bearer`, with `error="invalid_token"` where one was sent that is not known (RFC 6750).',
    required: true,
    schema: { type: 'string' },
    example: 'Bearer',
  },
  RetryAfter: {
    description: 'After how many seconds to ask again.',
    required: true,
    schema: { type: 'integer', minimum: 1 },
    example: 1,
  },
};

/** The reference by which an answer carries a shared header. */
export function sharedHeader(name: keyof typeof SHARED_HEADERS): { $ref: string } {
  return { $ref: `#/components/headers/${name}` };
}
