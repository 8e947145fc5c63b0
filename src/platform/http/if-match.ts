import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { ApiHeader } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { Problem } from './problem.js';

/** Whether If-None-Match names this strong entity tag (RFC 9110, 13.1.2): compared weakly, `*` names any. */
export function namesTag(ifNoneMatch: string | undefined, tag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === '*') return true;
  const named = ifNoneMatch.match(/(?:W\/)?"[^"]*"/g) ?? [];
  return named.some((one) => one.replace(/^W\//, '') === tag);
}

/** The strong entity tags that If-Match names, in their quotes; `any`: it is `*`. */
export type IfMatch = 'any' | ReadonlySet<string>;

const ENTITY_TAG = '(?:W/)?"[\\x21\\x23-\\x7e\\x80-\\xff]*"';
/** Elements may be empty. Nothing in it can be read in two ways: it takes as long as the header is. */
const LIST = new RegExp(`^[ \\t,]*${ENTITY_TAG}[ \\t]*(?:,[ \\t]*(?:${ENTITY_TAG}[ \\t]*)?)*$`);
const EACH = new RegExp(ENTITY_TAG, 'g');
const RULE = 'must be * or entity tags in quotes, with commas between them, such as "3"';

/** What If-Match asks for (RFC 9110, 13.1.1). Undefined: there is none. Throws invalid_request where it is malformed. */
export function readIfMatch(header: string | undefined): IfMatch | undefined {
  if (header === undefined) return undefined;
  if (header.trim() === '*') return 'any';
  if (!LIST.test(header)) throw new Problem('invalid_request', `If-Match ${RULE}`);
  // A weak tag fits nothing: tags are compared strongly here.
  return new Set(header.match(EACH)!.filter((tag) => !tag.startsWith('W/')));
}

/** The tag of a version, by which If-Match and If-None-Match name it. */
export function versionTag(version: number): string {
  return `"${version}"`;
}

/** Whether If-Match lets a request pass where the version is this one. */
export function isMatch(ifMatch: IfMatch | undefined, version: number): boolean {
  return ifMatch === undefined || ifMatch === 'any' || ifMatch.has(versionTag(version));
}

/** The condition of the request. */
export const IfMatchOf = createParamDecorator((_data: unknown, context: ExecutionContext): IfMatch | undefined => {
  return readIfMatch(context.switchToHttp().getRequest<FastifyRequest>().headers['if-match']);
});

/** The header If-Match, where it asks for a version of the run. */
export function ApiIfMatch(): MethodDecorator & ClassDecorator {
  return ApiHeader({
    name: 'If-Match',
    required: false,
    description:
      'Only where the run is as the caller has seen it: its ETag, such as `"3"`, several with commas between them, or ' +
      '`*`. Of any other version the request is refused with 412 `version_mismatch` and changes nothing, also where the ' +
      'run is over.',
    schema: { type: 'string' },
  });
}
