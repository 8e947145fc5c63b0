import { closeSync, fstatSync, openSync, readFileSync, type Stats } from 'node:fs';
import { NODE_ID, NODE_ID_RULE } from '../http/path-parameters.js';
import { wrongPrincipal } from '../http/principal.js';
import { type Role, ROLES, type Token } from './token.js';

/** Tokens, or all that is wrong with the file. A fault never repeats what stands there: it may be a token by mistake. */
export type ReadTokens =
  /** `warning`: what is to be said of the file, though it is taken. */
  { ok: true; tokens: Token[]; warning?: string } | { ok: false; faults: string[] };

const KEYS = ['name', 'role', 'node_id', 'sha256'];
const SHA256 = /^[0-9a-fA-F]{64}$/;

export function readTokensFile(path: string): ReadTokens {
  try {
    const fd = openSync(path, 'r');
    try {
      const { fault, warning } = judgeFile(fstatSync(fd), { uid: process.geteuid?.(), gid: process.getegid?.() });
      if (fault !== undefined) return { ok: false, faults: [fault] };
      const read = readTokens(readFileSync(fd, 'utf8'));
      return read.ok ? { ...read, warning } : read;
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    return { ok: false, faults: [`must be a file that can be read: ${(error as NodeJS.ErrnoException).code}`] };
  }
}

/**
 * Who may write to the file decides who may do what here. It is judged by what a link leads to, as orchestrators mount
 * secrets. Others may read it: it has hashes only. What is usual is taken and said: a group that is the server's own, as
 * where each user has one, and an owner from outside of a container.
 */
export function judgeFile(
  { mode, uid, gid }: Pick<Stats, 'mode' | 'uid' | 'gid'>,
  own: { uid: number | undefined; gid: number | undefined },
): { fault?: string; warning?: string } {
  if ((mode & 0o002) !== 0 || ((mode & 0o020) !== 0 && gid !== own.gid)) {
    return { fault: 'must not be writable by others: chmod go-w it' };
  }
  if (uid !== 0 && uid !== own.uid) return { warning: `belongs to user ${uid}, who can thereby decide who may call` };
  return (mode & 0o020) === 0
    ? {}
    : { warning: `may be written by group ${gid}, which can thereby decide who may call` };
}

/** `[{ "name", "role", "node_id"?, "sha256" }]`. */
export function readTokens(text: string): ReadTokens {
  let entries: unknown;
  try {
    entries = JSON.parse(text);
  } catch (error) {
    const [at = ''] = / at position \d+/.exec((error as Error).message) ?? [];
    return { ok: false, faults: [`must be JSON, and is not${at}`] };
  }
  if (!Array.isArray(entries) || entries.length === 0) {
    return { ok: false, faults: ['must be a list of at least one token: [{ "name", "role", "node_id"?, "sha256" }]'] };
  }
  const tokens: Token[] = [];
  const faults = entries.flatMap((entry: unknown, index) => {
    const { token, wrong } = readEntry(entry);
    if (token) tokens.push(token);
    return wrong.map((fault) => `/${index}${fault}`);
  });
  faults.push(...clashes(tokens));
  return faults.length > 0 ? { ok: false, faults } : { ok: true, tokens };
}

function readEntry(entry: unknown): { token?: Token; wrong: string[] } {
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) return { wrong: [' must be an object'] };
  const { name, role, node_id, sha256 } = entry as Record<string, unknown>;
  const wrong: string[] = [];
  const unknown = Object.keys(entry).filter((key) => !KEYS.includes(key));
  if (unknown.length > 0) wrong.push(` has ${unknown.length} key(s) that are none of ${KEYS.join(', ')}`);
  const wrongName = wrongPrincipal(name);
  if (wrongName !== undefined) wrong.push(`/name ${wrongName}`);
  if (!ROLES.includes(role as Role)) wrong.push(`/role must be one of ${ROLES.join(', ')}`);
  if (!isText(sha256, SHA256)) wrong.push('/sha256 must be the SHA-256 of the token, 64 hexadecimal digits');
  if (role === 'node' && !isText(node_id, NODE_ID)) wrong.push(`/node_id of a node ${NODE_ID_RULE}`);
  if (role !== 'node' && node_id !== undefined) wrong.push('/node_id is for the role node only');
  if (wrong.length > 0) return { wrong };
  const nodeId = role === 'node' ? (node_id as string) : undefined;
  const token = { name: name as string, role: role as Role, nodeId, sha256: Buffer.from(sha256 as string, 'hex') };
  return { token, wrong };
}

function isText(value: unknown, rule: RegExp): value is string {
  return typeof value === 'string' && rule.test(value);
}

/**
 * One token is one entry. A name may have several, so that a token can be followed by another without a gap, but then it
 * is the same for all of them: a run that `ci` has submitted is that of whoever is `ci`.
 */
function clashes(tokens: Token[]): string[] {
  const hashes = new Set(tokens.map(({ sha256 }) => sha256.toString('hex')));
  const faults = hashes.size < tokens.length ? ['has the same sha256 more than once'] : [];
  const first = new Map<string, Token>();
  const torn = new Set<string>();
  for (const token of tokens) {
    const { role, nodeId } = first.get(token.name) ?? token;
    if (role !== token.role || nodeId !== token.nodeId) torn.add(token.name);
    if (!first.has(token.name)) first.set(token.name, token);
  }
  return [...faults, ...[...torn].map((name) => `gives the name ${name} more than one role or node_id`)];
}
