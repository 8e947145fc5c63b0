import { connect } from 'node:net';
import type { Dice } from '../../../src/domain/steps/dice.fixture.js';
import { ODD_TEXTS, spellable } from './odd-values.js';

const HOST = 'Host: a\r\n';
const CLOSE = 'Connection: close\r\n';
const GET = `GET /v1/runs?limit=1 HTTP/1.1\r\n${HOST}`;
const POST = `POST /v1/runs HTTP/1.1\r\n${HOST}Content-Type: application/json\r\n`;

/** Bytes that are no request, half of one, or several: what only a socket can send. `many` is how many answers may come. */
const HOSTILE: ((dice: Dice) => string)[] = [
  (dice) => Array.from({ length: 1 + dice.roll(200) }, () => String.fromCharCode(dice.roll(256))).join('') + '\r\n\r\n',
  () => '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03' + '\0'.repeat(100),
  () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  () => `GET / HTTP/3.7\r\n${HOST}\r\n`,
  () => `GET /v1/runs\r\n\r\n`,
  () => `GET  /v1/runs  HTTP/1.1\r\n${HOST}\r\n`,
  () => `GET http://[::1 HTTP/1.1\r\n${HOST}${CLOSE}\r\n`,
  () => `GET * HTTP/1.1\r\n${HOST}${CLOSE}\r\n`,
  () => `OPTIONS * HTTP/1.1\r\n${HOST}${CLOSE}\r\n`,
  () => `CONNECT a:80 HTTP/1.1\r\n${HOST}${CLOSE}\r\n`,
  (dice) => `${GET}X: ${'a'.repeat(dice.of([8_000, 16_000, 17_000, 40_000]))}\r\n${CLOSE}\r\n`,
  (dice) =>
    `${GET}${Array.from({ length: dice.of([100, 1_999, 2_500]) }, (_, n) => `X${n}: a\r\n`).join('')}${CLOSE}\r\n`,
  (dice) => `${GET}X-${dice.of(['a b', '\0', '\x7f', 'é'])}: 1\r\n${CLOSE}\r\n`,
  (dice) => `${GET}Mediator-Principal: ${spellable(dice.of(ODD_TEXTS)).slice(0, 300)}\r\n${CLOSE}\r\n`,
  (dice) => `${GET}${CLOSE}${dice.of([' folded: 1', '\tx', ': none', 'X', 'X :1'])}\r\n\r\n`,
  () => GET + GET + GET,
  () => `${GET}\r\n${GET}\r\n${GET}${CLOSE}\r\n`,
  () => `${GET}\r\n${POST}Content-Length: 2\r\n\r\n{}GARBAGE\r\n\r\n`,
  () => `${POST}Content-Length: 10\r\n\r\n{}`,
  (dice) => `${POST}Content-Length: ${dice.of(['-1', '1e3', '2, 2', '99999999999999999999', '0x2', '+2'])}\r\n\r\n{}`,
  () => `${POST}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`,
  () => `${POST}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}`,
  (dice) =>
    `${POST}Transfer-Encoding: ${dice.of(['gzip', 'chunked, identity', 'xchunked', 'chunked, chunked'])}\r\n${CLOSE}\r\n2\r\n{}\r\n0\r\n\r\n`,
  (dice) =>
    `${POST}Transfer-Encoding: chunked\r\n${CLOSE}\r\n${dice.of(['zz\r\n', '2\r\n{}', 'fffffffffffffffff\r\n', '2;a="b\r\n{}\r\n0\r\n\r\n', '-2\r\n{}\r\n'])}`,
  () => `${POST}Transfer-Encoding: chunked\r\n${CLOSE}\r\n2\r\n{}\r\n0\r\nTrailer: x\r\n\r\n`,
  () => `${POST}Expect: 100-continue\r\nContent-Length: 2\r\n${CLOSE}\r\n{}`,
  () => `PUT /v1/runs/a/steps/1/log HTTP/1.1\r\n${HOST}Mediator-Lease: x\r\nContent-Length: 1000000\r\n\r\nhalf`,
  () => `GET /v1/runs HTTP/1.1\r\n${CLOSE}\r\n`,
  () => `GET /v1/runs HTTP/1.1\r\n${HOST}${HOST}${CLOSE}\r\n`,
  () => `GET /v1/runs HTTP/1.0\r\n\r\n`,
  () => `GET /v1/runs HTTP/1.1\r\n${HOST}Upgrade: websocket\r\nConnection: Upgrade\r\n\r\n`,
  () => `GET /v1/runs HTTP/1.1\n${HOST.replace('\r', '')}${CLOSE.replace('\r', '')}\n`,
  () => `GET /v1/runs/${'a'.repeat(15_000)} HTTP/1.1\r\n${HOST}${CLOSE}\r\n`,
  () => '\r\n\r\n\r\n',
  () => '',
];

/** What came back on one connection, and what was sent. */
export interface Spoken {
  sent: string;
  answers: { status: number; head: string; body: string }[];
}

/** Sends one of them and closes its side; reads until the server has closed the other. */
export async function speakHostile(url: string, dice: Dice): Promise<Spoken> {
  const sent = dice.of(HOSTILE)(dice);
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.on('error', () => undefined);
  let received = '';
  socket.end(Buffer.from(sent, 'latin1'));
  try {
    for await (const piece of socket) received += (piece as Buffer).toString('latin1');
  } catch (error) {
    // A server may hang up on bytes like these; what it said before counts.
    if ((error as NodeJS.ErrnoException).code !== 'ECONNRESET' && (error as NodeJS.ErrnoException).code !== 'EPIPE')
      throw error;
  }
  return { sent, answers: answersOf(received) };
}

/** By Content-Length; a body in chunks is taken whole. */
function answersOf(received: string): Spoken['answers'] {
  const answers: Spoken['answers'] = [];
  let rest = received;
  while (rest !== '') {
    const end = rest.indexOf('\r\n\r\n');
    const head = end < 0 ? rest : rest.slice(0, end);
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1]);
    const length = Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0);
    const body = end < 0 ? '' : rest.slice(end + 4, end + 4 + length);
    if (status !== 100) answers.push({ status, head, body });
    rest = end < 0 ? '' : rest.slice(end + 4 + length);
  }
  return answers;
}

/** In what an answer to such bytes is none of ours: it is below 500, and a problem from 400 on. */
export function hostileFaults({ answers }: Spoken): string[] {
  return answers.flatMap(({ status, head, body }) => {
    if (!(status >= 200 && status < 500)) return [`a ${status}: ${head.slice(0, 200)}`];
    const faults = /^x-request-id: \S/im.test(head) ? [] : ['no X-Request-Id'];
    if (status < 400) return faults;
    if (!/^content-type: application\/problem\+json/im.test(head)) return [...faults, `a ${status} that is no problem`];
    const { code, status: said } = JSON.parse(Buffer.from(body, 'latin1').toString()) as {
      code: string;
      status: number;
    };
    return said === status && code !== undefined ? faults : [...faults, `a ${status} that says ${said} ${code}`];
  });
}
