/** What a token may be for. An operator may do everything. */
export const ROLES = ['submitter', 'node', 'operator'] as const;
export type Role = (typeof ROLES)[number];

/** Who may speak, as the tokens file has it: never the token itself. */
export interface Token {
  /** The principal of whoever sends it. */
  name: string;
  role: Role;
  /** The node that a token of the role `node` speaks for. */
  nodeId?: string;
  /** The SHA-256 of the token. */
  sha256: Buffer;
}

/** A token that is known now. */
export interface KnownToken extends Token {
  /** Aborted when the tokens file is read again and has it no more. */
  revoked: AbortSignal;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** What the caller has shown; undefined where there are no tokens, or the route needs none. */
    token?: KnownToken;
  }
}
