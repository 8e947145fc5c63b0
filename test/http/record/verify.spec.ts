import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { get, sha256 } from '../../support/bytes.js';
import { playRun, readTar, type TarFile, verify, writeTar } from '../../support/record.js';
import { serverSuite } from '../../support/server-suite.js';

const DIGEST = /^sha256:[0-9a-f]{64}$/;

// Each case is a process of its own, some tests have a dozen.
jest.setTimeout(60_000);

describe('record:verify', () => {
  const server = serverSuite();
  let folder: string;
  let tar: Buffer;
  let files: TarFile[];
  let digest: string;
  let tampered = 0;
  const at = (name: string): string => join(folder, name);

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mediator-verify-'));
    await playRun(server, 'v');
    const { bytes, headers } = await get(`${server.url}/v1/runs/v/record`);
    tar = bytes;
    digest = headers.get('etag')!.slice(1, -1);
    files = await readTar(tar);
    await writeFile(at('record.tar'), tar);
  });
  afterAll(async () => {
    await rm(folder, { recursive: true });
  });

  const verifyBytes = async (bytes: Buffer, ...more: string[]): ReturnType<typeof verify> => {
    const name = at(`tampered-${++tampered}.tar`);
    await writeFile(name, bytes);
    return verify(name, ...more);
  };
  const byName = (path: string): TarFile => files.find(({ name }) => name === `run-v/${path}`)!;
  const without = (path: string): TarFile[] => files.filter((file) => file !== byName(path));
  const changed = (path: string, change: (body: Buffer) => Buffer | string): TarFile[] =>
    files.map((file) => (file === byName(path) ? { ...file, body: Buffer.from(change(file.body)) } : file));
  const sums = (change: (lines: string[]) => string[]): TarFile[] =>
    changed('SHA256SUMS', (body) => `${change(body.toString().trimEnd().split('\n')).join('\n')}\n`);
  const more = (...added: TarFile[]): TarFile[] => [...files, ...added];
  const file = (name: string, more: Partial<TarFile> = {}): TarFile => ({ name, body: Buffer.from('x'), ...more });

  it('prints the digest and OK, also by npm, and compares with one that is given', async () => {
    expect(await verify(at('record.tar'))).toEqual({ code: 0, lines: [digest, 'OK'], error: '' });
    const { stdout } = await promisify(execFile)('npm', ['run', '-s', 'record:verify', at('record.tar'), digest]);
    expect(stdout).toBe(`${digest}\nOK\n`);
    const other = `sha256:${'0'.repeat(64)}`;
    expect(await verify(at('record.tar'), other)).toMatchObject({
      code: 1,
      lines: [`the digest is ${digest}, not ${other}`],
    });
  });

  it('takes a tar of the same files that another program wrote', async () => {
    expect(await verifyBytes(await writeTar(files))).toMatchObject({ code: 0, lines: [digest, 'OK'] });
  });

  it('finds one flipped byte in every file', async () => {
    for (const { name, body } of files) {
      const path = name.slice('run-v/'.length);
      if (body.length === 0 || path === 'SHA256SUMS') continue;
      const bytes = Buffer.from(tar);
      // The body begins with the block after its header, which begins with its path.
      const place = bytes.indexOf(`${name}\0`) + 512 + Math.floor(body.length / 2);
      bytes[place]! ^= 1;
      const { code, lines } = await verifyBytes(bytes);
      expect([path, code]).toEqual([path, 1]);
      expect(lines[0]).toMatch(new RegExp(`^${path}: its sum is [0-9a-f]{64}, not [0-9a-f]{64}$`));
    }
  });

  const LIST = `${'0'.repeat(64)}  `;
  it.each<[string, () => TarFile[], (string | RegExp)[]]>([
    ['a file is missing', () => without('blobs/1.2-image'), ['blobs/1.2-image is missing']],
    [
      'a file is missing and not listed',
      () => sums((lines) => lines.slice(0, -1)).filter(({ name }) => name !== 'run-v/verdict.json'),
      ['verdict.json is not listed in SHA256SUMS'],
    ],
    ['SHA256SUMS is missing', () => without('SHA256SUMS'), ['SHA256SUMS is missing']],
    [
      'a file is there that is not listed',
      () => more(file('run-v/blobs/9.1-more')),
      ['blobs/9.1-more is there and not listed in SHA256SUMS'],
    ],
    ['a file is there twice', () => more(byName('verdict.json')), ['verdict.json is there twice']],
    [
      'a sum is wrong',
      () => sums(([first, ...rest]) => [first!.replace(/^.{64}/, '0'.repeat(64)), ...rest]),
      [/^blobs\/1\.1-image: its sum is [0-9a-f]{64}, not 0{64}$/],
    ],
    [
      'a line is no sum',
      () => sums((lines) => [...lines, 'nonsense\u001b[2J']),
      ['SHA256SUMS, line 16: "nonsense\\u001b[2J" is not a sum, two spaces and a path'],
    ],
    [
      'a line is there twice',
      () => sums((lines) => [...lines, lines.at(-1)!]),
      ['SHA256SUMS, line 16: verdict.json is listed twice'],
    ],
    [
      'the lines are not sorted',
      () => sums(([first, second, ...rest]) => [second!, first!, ...rest]),
      ['SHA256SUMS, line 2: blobs/1.1-image is not in its place, the paths are not sorted'],
    ],
    [
      'the last line is cut',
      () => changed('SHA256SUMS', (body) => body.subarray(0, -1)),
      ['SHA256SUMS: its last line is broken off'],
    ],
    ['SHA256SUMS is empty', () => changed('SHA256SUMS', () => ''), ['manifest.json is not listed in SHA256SUMS']],
    [
      'something is listed that is no part of a record',
      () => [...sums((lines) => [...lines, `${sha256('x')}  zzz`]), file('run-v/zzz')],
      ['zzz is no path of a record'],
    ],
    ['it lists itself', () => sums((lines) => [`${LIST}SHA256SUMS`, ...lines]), ['SHA256SUMS is no path of a record']],
    [
      'a link',
      () => more(file('run-v/blobs/1.1-l', { type: 'symlink', linkname: '/etc/passwd', body: Buffer.alloc(0) })),
      ['run-v/blobs/1.1-l is a symlink, not a file'],
    ],
    [
      'a link in place of a file',
      () => [
        ...without('blobs/3.1-empty'),
        file('run-v/blobs/3.1-empty', { type: 'link', linkname: 'run-v/verdict.json', body: Buffer.alloc(0) }),
      ],
      ['run-v/blobs/3.1-empty is a link, not a file', 'blobs/3.1-empty is missing'],
    ],
    ['a path that leads out', () => more(file('run-v/../x')), ['run-v/../x is no safe path']],
    ['an absolute path', () => more(file('/etc/x')), ['/etc/x is no safe path']],
    ['a path with a control character', () => more(file('run-v/a\nb')), ['"run-v/a\\nb" is no safe path']],
    [
      'a second folder',
      () => more(file('run-w/manifest.json')),
      ['run-w/manifest.json lies outside of the folder run-v'],
    ],
    [
      'a folder within',
      () => more(file('run-v/logs/', { type: 'directory', body: Buffer.alloc(0) })),
      ['run-v/logs/ is a directory, not a file'],
    ],
    [
      'the folder of another run',
      () => files.map((one) => ({ ...one, name: one.name.replace('run-v', 'run-w') })),
      ['manifest.json is of the run v, the folder of w'],
    ],
    [
      'a folder of another name',
      () => files.map((one) => ({ ...one, name: one.name.replace('run-v', 'record') })),
      ['the folder record is not run-<run_id>'],
    ],
    ['a file called constructor', () => more(file('run-v/constructor')), [/^constructor is there and not listed/]],
  ])('%s: it says so', async (_what, filesOf, says) => {
    const { code, lines } = await verifyBytes(await writeTar(filesOf()));
    expect([code, lines]).toEqual([1, expect.arrayContaining(says.map((one) => expect.stringMatching(exactly(one))))]);
  });

  it('says everything that does not fit, a line each', async () => {
    const { code, lines } = await verifyBytes(
      await writeTar([...without('blobs/1.2-image').filter((one) => one !== byName('verdict.json')), file('run-v/x')]),
    );
    expect([code, lines]).toEqual([
      1,
      ['blobs/1.2-image is missing', 'verdict.json is missing', 'x is there and not listed in SHA256SUMS'],
    ]);
  });

  it('a tar that was cut off anywhere is found out', async () => {
    const middle = tar.indexOf(byName('blobs/1.2-image').body) + 1000;
    for (const length of [
      512,
      1024,
      middle,
      middle - (middle % 512),
      tar.length - 1024,
      tar.length - 512,
      tar.length - 1,
    ]) {
      const { code, lines } = await verifyBytes(tar.subarray(0, length));
      expect([length, code]).toEqual([length, 1]);
      expect(lines.join('\n')).toMatch(/broken off/);
    }
  });

  it('a damaged header is found out', async () => {
    const bytes = Buffer.from(tar);
    bytes[512 + 3]! ^= 1;
    const { code, lines } = await verifyBytes(bytes);
    expect([code, lines[0]]).toEqual([1, expect.stringMatching(/broken off or damaged/)]);
  });

  it('what is no tar, is not there, or is not asked for rightly, is exit code 2', async () => {
    expect(await verifyBytes(Buffer.alloc(0))).toMatchObject({ code: 2, lines: [] });
    expect(await verifyBytes(Buffer.from('no tar '.repeat(1000)))).toMatchObject({ code: 2, lines: [] });
    expect(await verifyBytes(gzipSync(tar))).toMatchObject({ code: 2, lines: [] });
    expect(await verify(at('nowhere.tar'))).toMatchObject({
      code: 2,
      error: expect.stringContaining('cannot be read'),
    });
    expect(await verify(folder)).toMatchObject({ code: 2, error: expect.stringContaining('cannot be read') });
    for (const args of [[], [at('record.tar'), 'sha256:x'], [at('record.tar'), digest, 'more']]) {
      expect(await verify(...args)).toMatchObject({ code: 2, error: expect.stringContaining('usage') });
    }
    expect(digest).toMatch(DIGEST);
  });
});

function exactly(says: string | RegExp): RegExp {
  return typeof says === 'string' ? new RegExp(`^${says.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`) : says;
}
