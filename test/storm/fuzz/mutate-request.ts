import type { Dice } from '../../../src/domain/steps/dice.fixture.js';
import type { FuzzRequest } from './fuzz-request.js';
import { mutateJson } from './mutate-json.js';
import { ODD_NUMBERS, ODD_TEXTS, spellable, toText } from './odd-values.js';

type Mutation = (request: FuzzRequest, dice: Dice) => void;

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'QUERY'];
const TYPES = [
  'text/plain',
  'application/jsonx',
  'application/json;charset=latin1',
  'multipart/form-data',
  'a',
  '',
  'A/b; c="\\',
  'x/y'.repeat(200),
];
const PATH_PARTS = [
  '%',
  '%zz',
  '%FF',
  '%C3',
  '%00',
  '%ED%A0%80',
  '%2F',
  '%2e%2e',
  '..',
  '.',
  '%25',
  '~',
  '!',
  "'",
  '|',
  '"',
  '<x>',
  '^`',
  '[',
  'a'.repeat(1001),
];
const SPELLINGS: ((path: string) => string)[] = [
  (path) => `${path}/`,
  (path) => `/${path}`,
  (path) => path.replace('/v1', '/V1'),
  (path) => path.replace(/[a-z]/, (letter) => `%${letter.charCodeAt(0).toString(16)}`),
  (path) => `${path};a=b`,
  (path) => path.replace(/\/[^/]*$/, ''),
  (path) => path.replace('/', '/./'),
  (path) => `${path}/extra`,
  (path) => `http://elsewhere.example${path}`,
];
const NUMBER_LIKE = [...ODD_NUMBERS, '', ' 1', '+1', '0x10', '1_0', '٣', 'NaN', 'Infinity', 'null', 'true'];
/** No wait that could be kept: each of these is 0, or none. */
const HEADERS: Record<string, readonly string[]> = {
  range: [
    'bytes=',
    'bytes=-0',
    'bytes=5-1',
    'bytes=0-0,2-3',
    'items=0-1',
    'bytes=0-99999999999999999999',
    'bytes = 0-1',
    'BYTES=0-1',
    '-',
    'bytes=-99999999999999999999999999',
    'bytes=1e3-',
  ],
  'if-none-match': ['*', 'W/"1"', '"', '"1', ', ,', '"1", "2"', '1', '""', `"${'a'.repeat(8_000)}"`],
  'if-range': ['*', '"1"', 'W/"1"', 'Wed, 21 Oct 2015 07:28:00 GMT'],
  prefer: [
    'wait=0',
    'wait=-1',
    'wait',
    'wait=',
    'wait="0"',
    'respond-async, wait=0',
    'WAIT=0',
    'wait=0;a',
    'wait=0.5',
    ',,,',
  ],
  'mediator-lease': ['', 'x', '00000000-0000-0000-0000-000000000000', 'a'.repeat(4_000), '\xfc'],
  'mediator-instance': ['', ' ', 'a'.repeat(201), '\xfc', 'boot-2'],
  'mediator-principal': ['', ' ', 'a'.repeat(201), '\xfc', 'ann, bob'],
  'idempotency-key': ['"quoted"', '"', '"a', '', '.', '..', 'a b', 'a/b', 'a'.repeat(201), '\xfc', 'ü'],
  'x-request-id': ['', ' ', 'a'.repeat(129), '\xfc', 'fuzz-1', '"><script>'],
  expect: ['100-continue', 'tea'],
  accept: ['', 'text/html', '*/*;q=0', 'image/png'],
  'accept-encoding': ['gzip', 'identity;q=0', '*'],
  'content-encoding': ['gzip', 'br', 'identity', 'x'],
  authorization: ['Bearer x', 'Basic eDp5', ''],
  host: ['', 'a b', 'elsewhere.example:99999'],
  'if-modified-since': ['Wed, 21 Oct 2015 07:28:00 GMT', 'never'],
  'x-http-method-override': ['DELETE'],
  origin: ['null'],
  cookie: ['a=b; a=c'],
};

const MUTATIONS: Record<string, Mutation> = {
  body: (request, dice) => {
    const json = jsonOf(request);
    if (json === undefined) return void (request.body = Buffer.from(toText(mutateJson({}, dice))));
    request.body = Buffer.from(toText(mutateJson(json, dice)));
  },
  'bytes of the body': (request, dice) => {
    const text = request.body?.toString() ?? '{}';
    const cut = dice.roll(text.length + 1);
    const broken = [
      text.slice(0, cut),
      `${text}x`,
      `\ufeff${text}`,
      '',
      ' ',
      'null',
      '0',
      '"a"',
      '[]',
      '{}',
      `${text.slice(0, cut)}\0${text.slice(cut)}`,
    ];
    const bytes =
      dice.roll(4) === 0
        ? [Buffer.from([0xff, 0xfe]), Buffer.from('\xc3', 'latin1')]
        : broken.map((one) => Buffer.from(one));
    request.body = dice.of<Buffer>(bytes);
  },
  'size of the body': (request, dice) => {
    request.headers['content-type'] ??= 'application/json';
    const bytes = dice.of([16, 64, 256].flatMap((most) => [most * 1024, most * 1024 + 1]));
    const rest = Buffer.alloc(Math.max(0, bytes - (request.body?.length ?? 0)), ' ');
    request.body = Buffer.concat([request.body ?? Buffer.from(''), rest]);
  },
  'no body': (request) => void delete request.body,
  'media type': (request, dice) => void (request.headers['content-type'] = dice.of(TYPES)),
  'no media type': (request) => void delete request.headers['content-type'],
  chunks: (request) => void (request.chunked = request.body !== undefined),
  'body where there is none': (request, dice) => {
    request.headers['content-type'] ??= 'application/json';
    request.body ??= Buffer.from(dice.of(['{}', '{"wait":0}', '[', 'x']));
  },
  'part of the path': (request, dice) => {
    const [path = '', ...query] = request.path.split('?');
    const parts = path.split('/');
    const at = 1 + dice.roll(parts.length - 1);
    parts[at] = dice.of([
      `${parts[at]}${dice.of(PATH_PARTS)}`,
      dice.of(PATH_PARTS),
      encodeURIComponent(spellable(dice.of(ODD_TEXTS))),
    ]);
    request.path = [parts.join('/'), ...query].join('?');
  },
  'number in the path': (request, dice) => {
    request.path = request.path.replace(/\/steps\/[^/?]*/, `/steps/${encodeURIComponent(dice.of(NUMBER_LIKE))}`);
  },
  spelling: (request, dice) => {
    const [path = '', ...query] = request.path.split('?');
    request.path = [dice.of(SPELLINGS)(path) || '/', ...query].join('?');
    request.operationId = undefined;
  },
  method: (request, dice) => {
    request.method = dice.of(METHODS);
    request.operationId = undefined;
  },
  'value in the query': (request, dice) => {
    const names = ['limit', 'cursor', 'state', 'attempt', 'offset', 'name', 'all', 'work_id', 'principal'];
    addQuery(request, `${dice.of(names)}=${encodeURIComponent(spellable(dice.of([...NUMBER_LIKE, ...ODD_TEXTS])))}`);
  },
  'wait that is none': (request, dice) => {
    const waits = ['-1', '301', '0.5', 'NaN', '', '00', '-0', 'abc', '1e400', '٣', ' '];
    request.path = request.path.replace(/wait=\d+/, `wait=${encodeURIComponent(dice.of(waits))}`);
  },
  'query that is odd': (request, dice) => {
    addQuery(
      request,
      dice.of([
        '%',
        '%FF',
        'a%00=b',
        '=',
        '&&',
        'a[b]=c',
        'a[]=1',
        'limit=1&limit=2',
        'wait=0',
        'cursor=%ED%A0%80',
        '__proto__=1',
        'constructor=1',
        '?',
        'name=a&name=b',
        'all=1',
        `a=${'b'.repeat(4_000)}`,
      ]),
    );
  },
  header: (request, dice) => {
    const name = dice.of(Object.keys(HEADERS));
    request.headers[name] = dice.of(HEADERS[name]!);
  },
  'header twice': (request, dice) => {
    const name = dice.of([
      'if-none-match',
      'range',
      'prefer',
      'mediator-lease',
      'mediator-principal',
      'mediator-instance',
      'idempotency-key',
      'x-request-id',
    ]);
    const value = dice.of(HEADERS[name]!);
    request.headers[name] = [request.headers[name] ?? value, value].flat();
  },
  'no header': (request, dice) => {
    const names = Object.keys(request.headers);
    if (names.length > 0) delete request.headers[dice.of(names)];
  },
};

/** Changes one thing; says in `mutations` what. */
export function mutateRequest(request: FuzzRequest, dice: Dice): void {
  const hasJson = jsonOf(request) !== undefined;
  const name = hasJson && dice.roll(2) === 0 ? 'body' : dice.of(Object.keys(MUTATIONS));
  MUTATIONS[name]!(request, dice);
  request.mutations.push(name);
}

function addQuery(request: FuzzRequest, text: string): void {
  request.path += `${request.path.includes('?') ? '&' : '?'}${text}`;
}

function jsonOf({ headers, body }: FuzzRequest): unknown {
  if (headers['content-type'] !== 'application/json' || body === undefined) return undefined;
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
}
