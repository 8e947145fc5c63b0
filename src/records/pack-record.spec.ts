import { once } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { extract } from 'tar-stream';
import { TAR_END, type TarEntry, tarHeader, tarPadding } from './pack-record.js';

describe('an entry of a tar', () => {
  const read = async (tar: Buffer): Promise<object[]> => {
    const found: object[] = [];
    const reader = extract();
    reader.on('entry', ({ name, size, type, mode, uid, mtime }, body, next) => {
      found.push({ name, size, type, mode, uid, mtime });
      body.resume();
      body.on('end', next);
    });
    reader.end(tar);
    await once(reader, 'finish');
    return found;
  };
  const entry = (path: string, size: number): TarEntry => ({ path, size, mtime: 1_772_442_904 });
  const tarOf = (path: string, size: number): Buffer =>
    Buffer.concat([tarHeader(entry(path, size)), Buffer.alloc(size, 1), tarPadding(size), TAR_END]);

  it.each([
    ['a', 0],
    ['a', 1],
    ['x'.repeat(100), 511],
    ['x'.repeat(101), 512],
    [`${'x'.repeat(87)}/${'y'.repeat(300)}`, 513],
    // The length in front of a pax record counts its own digits.
    ...Array.from({ length: 12 }, (_, more): [string, number] => ['z'.repeat(982 + more), 3]),
    ['ü'.repeat(60), 1],
  ])('of the path %s and %i bytes is read back', async (path, size) => {
    const tar = tarOf(path, size);
    expect(tar.length % 512).toBe(0);
    expect(await read(tar)).toEqual([
      { name: path, size, type: 'file', mode: 0o644, uid: 0, mtime: new Date('2026-03-02T09:15:04Z') },
    ]);
  });

  it('with a slash at its end is a folder', async () => {
    const folders = ['run-1/', `run-${'x'.repeat(200)}/`];
    const tar = Buffer.concat([...folders.map((path) => tarHeader(entry(path, 0))), TAR_END]);
    expect(await read(tar)).toMatchObject(folders.map(() => ({ type: 'directory', mode: 0o755 })));
  });

  it('of 8 GiB and more has its size in a pax record', () => {
    const header = tarHeader(entry('a', 8 * 1024 ** 3));
    expect(header.length).toBe(3 * 512);
    expect(header.toString()).toContain('19 size=8589934592\n');
  });
});
