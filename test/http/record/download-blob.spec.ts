import { get as openHttp, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { bytesOf, get, sha256 } from '../../support/bytes.js';
import { R } from '../../support/contracts.js';
import { eventually } from '../../support/eventually.js';
import { once } from '../../support/failpoints.js';
import type { PlayedClaim } from '../../support/played-node.js';
import { readTar } from '../../support/record.js';
import { upload } from '../../support/uploads.js';
import { serverSuite } from '../../support/server-suite.js';

const MIB = 1024 * 1024;

describe('reading an output', () => {
  const server = serverSuite();
  const node = server.liveNode('n1', { role: 'x' });
  let claim: PlayedClaim;
  const image = bytesOf(700_000);
  const tag = `"${sha256(image)}"`;
  const url = (name: string, run = 'a'): string => `${server.url}/v1/runs/${run}/blobs/${name}`;

  beforeAll(async () => {
    await server.send('POST', '/v1/runs', { body: R('x', { run_id: 'a' }) });
    claim = (await node.claim()).body;
    expect((await upload(server, claim, 'image', image, { type: 'application/x-disk' })).status).toBe(204);
    expect((await upload(server, claim, 'nothing', '')).status).toBe(204);
  });

  /** An upload past the API: chunks of these sizes. */
  const store = async (name: string, chunks: Buffer[], published = true): Promise<void> => {
    const all = Buffer.concat(chunks);
    const published_at = published ? 'clock_timestamp()' : 'NULL';
    const [row] = await server.database.sql<{ upload_id: string }>(
      `INSERT INTO blobs (run_id, seq, attempt, name, media_type, published_at, size, sha256)
       VALUES ('a', 1, 1, $1, 'text/plain', ${published_at}, $2, $3) RETURNING upload_id`,
      [name, ...(published ? [all.length, sha256(all)] : [null, null])],
    );
    let at = 0;
    for (const bytes of chunks) {
      await server.database.sql('INSERT INTO blob_chunks VALUES ($1, $2, $3)', [row!.upload_id, at, bytes]);
      at += bytes.length;
    }
    // What is put there past the server makes it count anew.
    await server.database.sql('DELETE FROM run_bytes');
  };

  it('gives the bytes with their media type, sum and length, to be kept and not to be shown', async () => {
    const answer = await get(url('image'));
    expect([answer.status, answer.bytes.equals(image)]).toEqual([200, true]);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'application/x-disk',
      'content-length': '700000',
      'accept-ranges': 'bytes',
      'content-disposition': 'attachment; filename="image"',
      'x-content-type-options': 'nosniff',
      etag: tag,
    });
  });

  it('HEAD says the same without the bytes, whatever range is asked for', async () => {
    const [whole, head] = [
      await get(url('image')),
      await get(url('image'), { range: 'bytes=1-2' }, { method: 'HEAD' }),
    ];
    const said = ({ headers }: typeof whole): object => {
      const own = ['content-type', 'content-length', 'content-disposition', 'accept-ranges', 'etag'];
      return own.map((name) => headers.get(name));
    };
    expect([head.status, head.bytes.length]).toEqual([200, 0]);
    expect(said(head)).toEqual(said(whole));
  });

  it.each([
    ['bytes=0-0', 0, 0],
    ['bytes=0-', 0, 699_999],
    ['bytes=262143-262144', 262_143, 262_144],
    ['bytes=100-699998', 100, 699_998],
    ['bytes=699999-', 699_999, 699_999],
    ['bytes=5-99999999', 5, 699_999],
    ['bytes=-300000', 400_000, 699_999],
    ['bytes=-9999999', 0, 699_999],
  ])('the range %s is these bytes', async (range, first, last) => {
    const { status, headers, bytes } = await get(url('image'), { range });
    expect([status, headers.get('content-range')]).toEqual([206, `bytes ${first}-${last}/700000`]);
    expect(headers.get('content-length')).toBe(String(last - first + 1));
    expect(headers.get('etag')).toBe(tag);
    expect(bytes.equals(image.subarray(first, last + 1))).toBe(true);
  });

  it('ranges come out right whatever the chunks are', async () => {
    const sizes = [1, 0, 2, 300, 65_536, 262_144, 262_145, 1, 7];
    const text = bytesOf(
      sizes.reduce((sum, size) => sum + size, 0),
      7,
    );
    const starts = sizes.map((_, index) => sizes.slice(0, index).reduce((sum, size) => sum + size, 0));
    // A chunk without bytes has the offset of the one after it, so it is none that could be stored.
    const chunks = sizes.map((size, index) => text.subarray(starts[index], starts[index]! + size));
    await store(
      'chunky',
      chunks.filter((chunk) => chunk.length > 0),
    );
    const edges = [...new Set(starts.flatMap((start) => [start, start + 1, start + 1000]))].filter(
      (edge) => edge < text.length,
    );
    for (const first of edges) {
      for (const length of [1, 2, 400_000]) {
        const last = Math.min(first + length, text.length) - 1;
        const { status, bytes } = await get(url('chunky'), { range: `bytes=${first}-${last}` });
        expect([first, last, status, bytes.equals(text.subarray(first, last + 1))]).toEqual([first, last, 206, true]);
      }
    }
    expect((await get(url('chunky'))).bytes.equals(text)).toBe(true);
  });

  it.each(['bytes=0-1,5-6', 'bytes=9-5', 'pages=1-2', 'nonsense'])('the range %s is ignored', async (range) => {
    const { status, bytes } = await get(url('image'), { range });
    expect([status, bytes.length]).toEqual([200, 700_000]);
  });

  it.each(['bytes=700000-', 'bytes=-0', 'bytes=99999999999999999999-'])(
    'the range %s lies outside: 416',
    async (range) => {
      const answer = await server.send('GET', '/v1/runs/a/blobs/image', { headers: { range } });
      expect(answer).toMatchObject({ status: 416, body: { code: 'range_not_satisfiable' } });
      expect(answer.headers.get('content-range')).toBe('bytes */700000');
      expect(answer.headers.get('content-type')).toContain('application/problem+json');
      expect(answer.headers.get('etag')).toBeNull();
    },
  );

  it('who has it already gets 304, and a part only of what the part is meant for', async () => {
    for (const known of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
      const { status, headers, bytes } = await get(url('image'), { 'if-none-match': known, range: 'bytes=0-1' });
      expect([known, status, headers.get('etag'), bytes.length]).toEqual([known, 304, tag, 0]);
    }
    const part = async (ifRange: string): Promise<number> =>
      (await get(url('image'), { range: 'bytes=0-1', 'if-range': ifRange })).status;
    expect([await part(tag), await part('"other"'), await part(`W/${tag}`)]).toEqual([206, 200, 200]);
    expect(await part(new Date().toUTCString())).toBe(200);
    expect((await get(url('image'), { 'if-none-match': '"other"' })).status).toBe(200);
  });

  it('an output without bytes is 200 and no range of it exists', async () => {
    const { status, headers, bytes } = await get(url('nothing'));
    expect([status, headers.get('content-length'), bytes.length]).toEqual([200, '0', 0]);
    expect((await get(url('nothing'), { range: 'bytes=0-' })).status).toBe(416);
    expect((await get(url('nothing'), { range: 'bytes=-5' })).status).toBe(200);
  });

  it('what is not published, not of that exact name or not of that run is 404', async () => {
    await store('hidden', [Buffer.from('x')], false);
    for (const [run, name] of [
      ['a', 'hidden'],
      ['a', 'Image'],
      ['a', 'imag'],
      ['a', '..'],
      ['b', 'image'],
    ] as const) {
      const { status, body } = await server.send('GET', `/v1/runs/${run}/blobs/${encodeURIComponent(name)}`);
      expect([name, status, name === '..' ? 'route_not_found' : body.code]).toEqual([
        name,
        404,
        name === '..' ? 'route_not_found' : 'not_found',
      ]);
    }
  });

  it('the newest upload is given, by its number', async () => {
    await upload(server, claim, 'twice', 'first');
    const before = (await get(url('twice'))).headers.get('etag')!;
    await upload(server, claim, 'twice', 'second');
    const { bytes, headers } = await get(url('twice'), { range: 'bytes=0-2', 'if-range': before });
    expect([bytes.toString(), headers.get('etag')]).toEqual(['second', `"${sha256('second')}"`]);
    // Published later, but begun before: by its number it is the older.
    await server.database.sql(
      `INSERT INTO blobs (upload_id, run_id, seq, attempt, name, media_type, published_at, size, sha256)
       OVERRIDING SYSTEM VALUE VALUES (-1, 'a', 1, 2, 'twice', 'text/plain', clock_timestamp(), 0, $1)`,
      [sha256('')],
    );
    expect((await get(url('twice'))).bytes.toString()).toBe('second');
  });

  it('where it is uploaded anew before its first byte is read, the caller is told to ask again', async () => {
    await upload(server, claim, 'again', 'first');
    once('read-blob.found', () => upload(server, claim, 'again', 'second'));
    const { status, headers, bytes } = await get(url('again'));
    expect([status, headers.get('retry-after')]).toEqual([503, '1']);
    expect(JSON.parse(bytes.toString())).toMatchObject({ code: 'unavailable' });
    expect((await get(url('again'))).bytes.toString()).toBe('second');
  });

  it('where its bytes are gone it is a problem before the first of them, and breaks off after, rather than be short', async () => {
    await store('broken', [bytesOf(262_144), bytesOf(300_000)]);
    const lose = (from: number): Promise<unknown> =>
      server.database.sql(
        "DELETE FROM blob_chunks c USING blobs b WHERE c.upload_id = b.upload_id AND b.name = 'broken' AND at >= $1",
        [from],
      );
    await lose(262_144);
    await expect(get(url('broken'))).rejects.toThrow('terminated');
    await lose(0);
    const { status, headers } = await get(url('broken'), { range: 'bytes=1-' });
    expect([status, headers.get('content-type')]).toEqual([500, expect.stringContaining('application/problem+json')]);
    const described = ['etag', 'content-range', 'accept-ranges', 'content-disposition'];
    expect(described.map((name) => headers.get(name))).toEqual(described.map(() => null));
    // The record of the run is to be whole.
    await server.database.sql("DELETE FROM blobs WHERE name = 'broken'");
  });

  describe('ten readers that stand still, of two connections', () => {
    const small = serverSuite({ beside: server, env: { MEDIATOR_DB_POOL_SIZE: '2' } });
    const sleepers: IncomingMessage[] = [];
    const SIZE = 24 * MIB;

    beforeAll(async () => {
      await server.database.sql(
        `WITH chunks AS (SELECT g, decode(repeat(md5(g::text), 65536), 'hex') AS bytes FROM generate_series(0, 23) g),
              upload AS (
           INSERT INTO blobs (run_id, seq, attempt, name, media_type, published_at, size, sha256)
           SELECT 'a', 1, 1, 'huge', 'text/plain', clock_timestamp(), ${SIZE},
                  encode(sha256(string_agg(bytes, '' ORDER BY g)), 'hex') FROM chunks RETURNING upload_id)
         INSERT INTO blob_chunks SELECT upload_id, g * ${MIB}, bytes FROM chunks, upload`,
      );
      await node.report(claim);
    });
    afterAll(async () => {
      for (const sleeper of sleepers) sleeper.destroy();
    });

    const open = (path: string): Promise<IncomingMessage> =>
      new Promise((resolve, reject) => {
        openHttp(`${small.url}${path}`, { agent: false }, resolve).on('error', reject);
      });
    const lastRead = async (): Promise<string> => {
      const [row] = await server.database.sql<{ at: string }>(
        `SELECT max(query_start)::text || bool_or(state <> 'idle') AS at FROM pg_stat_activity
          WHERE datname = current_database() AND query LIKE '/* records.read-blob-bytes */%'`,
      );
      return row!.at;
    };

    it('do not take the connections: everybody else is answered, and each gets all bytes when it reads on', async () => {
      const paths = Array.from({ length: 10 }, (_, index) => `/v1/runs/a/${index % 2 ? 'record' : 'blobs/huge'}`);
      sleepers.push(...(await Promise.all(paths.map(open))));
      expect(sleepers.map((sleeper) => sleeper.statusCode)).toEqual(paths.map(() => 200));
      let seen = '';
      let same = 0;
      await eventually('nobody reads any more', async () => {
        const now = await lastRead();
        same = now === seen ? same + 1 : 0;
        seen = now;
        return same > 50;
      });

      const others = await Promise.all(Array.from({ length: 20 }, () => small.send('GET', '/v1/runs/a')));
      expect(others.map(({ status }) => status)).toEqual(others.map(() => 200));
      expect(sleepers.every(({ complete }) => !complete)).toBe(true);

      const [blob, record] = await Promise.all(
        sleepers.slice(0, 2).map(async (sleeper) => {
          const pieces: Buffer[] = [];
          for await (const piece of sleeper) pieces.push(piece as Buffer);
          return Buffer.concat(pieces);
        }),
      );
      expect(`"${sha256(blob!)}"`).toBe(sleepers[0]!.headers.etag);
      expect(record!.length).toBe(Number(sleepers[1]!.headers['content-length']));
      const packed = (await readTar(record!)).find(({ name }) => name === 'run-a/blobs/1.1-huge');
      expect(packed?.body.equals(blob!)).toBe(true);
    }, 30_000);

    it('who sends what is no request meanwhile gets no other answer in the middle of this one', async () => {
      const socket = connect(Number(new URL(small.url).port), '127.0.0.1');
      socket.write('GET /v1/runs/a/blobs/huge HTTP/1.1\r\nHost: localhost\r\n\r\n');
      let received = '';
      for await (const piece of socket) {
        if (received === '') socket.write('no request\r\n\r\n');
        received += (piece as Buffer).toString('latin1');
      }
      expect(received).toMatch(/^HTTP\/1\.1 200 /);
      expect(received.match(/HTTP\/1\.1/g)).toHaveLength(1);
    }, 30_000);
  });
});
