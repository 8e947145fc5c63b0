import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import ajvFormats from 'ajv-formats';
import { PROBLEMS, type ProblemCode } from '../../../src/domain/problem-codes.js';
import { operationOf, undeclaredHeaders } from '../../support/documented-headers.js';
import { CLOSED_SCHEMAS, OPERATIONS } from '../../support/openapi.js';
import type { FuzzRequest } from './fuzz-request.js';
import type { FuzzAnswer } from './send-request.js';

const PROBLEM_JSON = 'application/problem+json';
/** Served, but no part of the document. */
const PAGES = /^\/(docs|openapi\.json)(\/|$)/;

const RESPONSES = new Map(OPERATIONS.map(({ operation }) => [operation.operationId as string, operation.responses]));

const ajv = new Ajv2020({ strict: false, allErrors: true });
ajvFormats.default(ajv);
ajv.addSchema({ $id: 'document', components: { schemas: CLOSED_SCHEMAS } });
const compiled = new Map<string, ValidateFunction>();

/** In what an answer is not what the document says of it; nothing where it is. */
export function undocumented(request: FuzzRequest, answer: FuzzAnswer): string[] {
  const { status, headers } = answer;
  const operationId = operationOf(request);
  const faults = everyAnswer(request, answer);
  if (status >= 400) faults.push(...refusal(request, answer));
  if (operationId === undefined) {
    const [path = ''] = request.path.split('?', 1);
    return status >= 400 || PAGES.test(path) ? faults : [...faults, `${status} where the document has no operation`];
  }
  const response = RESPONSES.get(operationId)[status];
  if (response === undefined) return [...faults, `${operationId} has no ${status} in the document`];
  faults.push(...headerFaults(operationId, response, answer), ...undeclaredHeaders(operationId, status, headers));
  const types = Object.keys(response.content ?? {});
  const type = headers['content-type']?.split(';', 1)[0]?.trim();
  if (request.method === 'HEAD') return faults;
  if (types.length === 0) return answer.body.length === 0 ? faults : [...faults, `a body with ${status}`];
  if (!types.includes(type!) && !types.includes('*/*')) return [...faults, `${status} as ${type}, not ${types.join()}`];
  return [
    ...faults,
    ...bodyFaults(`${operationId} ${status}`, response.content[type!] ?? response.content['*/*'], answer),
  ];
}

function everyAnswer({ headers: sent }: FuzzRequest, { status, headers, json }: FuzzAnswer): string[] {
  const faults: string[] = [];
  const id = headers['x-request-id'];
  const given = sent['x-request-id'];
  // An output that is uploaded anew just while it is read: rare, told so, and right when asked again.
  if (status >= 500 && !/ was replaced, /.test(json?.detail)) faults.push(`a ${status}`);
  if (typeof id !== 'string' || id === '') faults.push('no X-Request-Id');
  // What is too long to be read as HTTP is answered before anybody knows its headers.
  const isRead = !/ not an HTTP request /.test(json?.detail);
  if (typeof given === 'string' && /^[\x21-\x7e]{1,128}$/.test(given) && isRead && id !== given)
    faults.push('another X-Request-Id');
  return faults;
}

function refusal(
  { operationId: _, ...request }: Partial<FuzzRequest>,
  { status, headers, json }: FuzzAnswer,
): string[] {
  const { method, path } = request as FuzzRequest;
  const type = headers['content-type'];
  if (type?.startsWith('application/json') && status === 503) return [];
  if (!type?.startsWith(PROBLEM_JSON)) return [`a ${status} as ${type}`];
  // The answer to HEAD is as long as the one to GET, and has no body.
  if (method === 'HEAD') return [];
  const code = json?.code as ProblemCode;
  if (!Object.hasOwn(PROBLEMS, code)) return [`a ${status} with code ${code}`];
  const faults: string[] = [];
  if (PROBLEMS[code].status !== status || json.status !== status) faults.push(`${code} with ${status}`);
  if (json.request_id !== headers['x-request-id']) faults.push('a problem with another request_id');
  const operationId = operationOf({ method, path });
  const listed = operationId && RESPONSES.get(operationId)[status]?.content?.[PROBLEM_JSON]?.examples;
  if (operationId !== undefined && !Object.hasOwn(listed || {}, code))
    faults.push(`${operationId} does not list ${code}`);
  if (operationId === undefined) faults.push(...bodyFaults('problem', { schema: PROBLEM }, { json } as FuzzAnswer));
  if (status === 405 && !/^[A-Z]+(, [A-Z]+)*$/.test(headers.allow ?? '')) faults.push('405 without Allow');
  if (status === 416 && !/^bytes \*\/\d+$/.test(headers['content-range'] ?? ''))
    faults.push('416 without Content-Range');
  return faults;
}

const PROBLEM = { $ref: '#/components/schemas/Problem' };

function headerFaults(operationId: string, response: any, { headers, json }: FuzzAnswer): string[] {
  // An output may be JSON with any key: it is no list.
  const listed = Object.hasOwn(response.headers, 'Link') && typeof json?.next === 'string';
  const faults = listed && headers.link === undefined ? [`${operationId} without Link`] : [];
  const answered = Object.entries<any>(response.headers).filter(([name]) => headers[name.toLowerCase()] !== undefined);
  const misspelt = answered.flatMap(([name, { schema }]) => {
    const value = headers[name.toLowerCase()];
    const typed = schema.type === 'integer' ? Number(value) : value;
    return faultsOf(`header ${name}`, schema, typed);
  });
  return [...faults, ...misspelt];
}

function bodyFaults(key: string, { schema }: any, { json }: FuzzAnswer): string[] {
  return schema.type === 'string' ? [] : faultsOf(key, schema, json);
}

function faultsOf(key: string, schema: object, value: unknown): string[] {
  const fits = compiled.get(key) ?? ajv.compile(absolute(schema));
  compiled.set(key, fits);
  return fits(value) ? [] : fits.errors!.map((error) => `${key}: ${error.instancePath} ${error.message}`);
}

function absolute(schema: object): object {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/components/', '"document#/components/'));
}
