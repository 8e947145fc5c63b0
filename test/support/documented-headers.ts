import { OPERATIONS } from './openapi.js';

/** What any server of HTTP says of its connection and its body, and what protects a browser. No document lists these. */
const OF_THE_TRANSPORT = new Set([
  'connection',
  'content-length',
  'content-type',
  'date',
  'keep-alive',
  'transfer-encoding',
  'content-security-policy',
  'cross-origin-opener-policy',
  'cross-origin-resource-policy',
  'origin-agent-cluster',
  'referrer-policy',
  'x-content-type-options',
  'x-dns-prefetch-control',
  'x-download-options',
  'x-frame-options',
  'x-permitted-cross-domain-policies',
  'x-xss-protection',
]);

const ROUTES = OPERATIONS.map(({ path, method, operation }) => ({
  id: operation.operationId as string,
  method: method.toUpperCase(),
  path: new RegExp(`^${path.replace(/[.]/g, '\\.').replace(/\{\w+\}/g, '[^/]+')}$`),
  fixed: !path.includes('{'),
}));

const ANSWERS = new Map(OPERATIONS.map(({ operation }) => [operation.operationId as string, operation.responses]));

/** The operation that a request reaches by its method and path, as the document has them. */
export function operationOf({ method, path }: { method: string; path: string }): string | undefined {
  const [raw = ''] = path.replace(/^http:\/\/[^/]*/, '').split('?', 1);
  const spellings = [raw, decoded(raw)];
  const fits = ROUTES.filter((route) => spellings.some((one) => route.path.test(one)));
  const reached = fits.filter((route) => route.method === (method === 'HEAD' ? 'GET' : method));
  return (reached.find(({ fixed }) => fixed) ?? reached[0])?.id;
}

function decoded(path: string): string {
  try {
    return path.split('/').map(decodeURIComponent).join('/');
  } catch {
    return path;
  }
}

/** Headers that are answered and not declared for this status, and those that must come and did not. */
export function undeclaredHeaders(operationId: string, status: number, headers: Record<string, unknown>): string[] {
  const declared: Record<string, { required?: boolean }> = ANSWERS.get(operationId)[status]?.headers ?? {};
  const known = new Set(Object.keys(declared).map((name) => name.toLowerCase()));
  const more = Object.keys(headers).filter((name) => !known.has(name) && !OF_THE_TRANSPORT.has(name));
  const missing = Object.keys(declared).filter((name) => declared[name]!.required && !(name.toLowerCase() in headers));
  return [
    ...more.map((name) => `${operationId} ${status} with ${name}, which is not documented`),
    ...missing.map((name) => `${operationId} ${status} without ${name}`),
  ];
}

/** Throws where the headers of an answer are not those of the document. */
export function expectDeclaredHeaders(method: string, path: string, { status, headers }: Response): void {
  const operationId = operationOf({ method, path });
  if (operationId === undefined) return;
  const faults = undeclaredHeaders(operationId, status, Object.fromEntries(headers));
  if (faults.length > 0) throw new Error(`${method} ${path}: ${faults.join('; ')}`);
}
