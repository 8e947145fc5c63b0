import { chmodSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { judgeFile, readTokens, readTokensFile } from './read-tokens.js';

const [A, B] = ['a'.repeat(64), 'B'.repeat(64)];
const ann = { name: 'ann', role: 'submitter', sha256: A };
const rpi = { name: 'rpi-7', role: 'node', node_id: 'rpi-7', sha256: B };

const faultsOf = (content: unknown): string[] => {
  const read = readTokens(typeof content === 'string' ? content : JSON.stringify(content));
  return read.ok ? [] : read.faults;
};

describe('a tokens file', () => {
  it('is read', () => {
    const read = readTokens(JSON.stringify([ann, rpi]));
    expect(read).toEqual({
      ok: true,
      tokens: [
        { name: 'ann', role: 'submitter', nodeId: undefined, sha256: Buffer.alloc(32, 0xaa) },
        { name: 'rpi-7', role: 'node', nodeId: 'rpi-7', sha256: Buffer.alloc(32, 0xbb) },
      ],
    });
  });

  it('may have two tokens of one name, so that one can follow the other', () => {
    expect(faultsOf([ann, { ...ann, sha256: B }])).toEqual([]);
  });

  it.each([
    ['a name that is torn', [ann, { ...ann, role: 'operator', sha256: B }], /ann more than one role/],
    ['one node name for two nodes', [rpi, { ...rpi, node_id: 'rpi-8', sha256: A }], /rpi-7 more than one role or node/],
    ['one hash twice, spelt differently', [ann, { ...ann, name: 'bob', sha256: A.toUpperCase() }], /same sha256/],
    ['nothing', '', /must be JSON/],
    ['half of it', '[{"name":"secret', /must be JSON/],
    ['no list', { tokens: [] }, /must be a list/],
    ['an empty list', [], /must be a list of at least one/],
    ['null in it', [null], /^\/0 must be an object$/],
    ['a list in it', [[]], /^\/0 must be an object$/],
    ['no name', [{ ...ann, name: undefined }], /^\/0\/name must/],
    ['a name with a line break', [{ ...ann, name: 'a\nb' }], /^\/0\/name must/],
    ['the name of who answers by default', [{ ...ann, name: 'default' }], /^\/0\/name must not be "default"/],
    ['a name that is a number', [{ ...ann, name: 7 }], /^\/0\/name must/],
    ['another role', [{ ...ann, role: 'admin' }], /^\/0\/role must be one of submitter, node, operator$/],
    ['no role', [{ ...ann, role: undefined }], /^\/0\/role must/],
    ['a node without its id', [{ ...rpi, node_id: undefined }], /^\/0\/node_id of a node must/],
    ['a node with a bad id', [{ ...rpi, node_id: '-' }], /^\/0\/node_id of a node must/],
    ['a submitter with a node', [{ ...ann, node_id: 'rpi-7' }], /^\/0\/node_id is for the role node only$/],
    ['a short hash', [{ ...ann, sha256: 'abc' }], /^\/0\/sha256 must/],
    ['a hash that is none', [{ ...ann, sha256: 'g'.repeat(64) }], /^\/0\/sha256 must/],
    ['the token itself', [{ ...ann, token: 'secret' }], /^\/0 has 1 key\(s\) that are none of name, role, node_id/],
  ])('with %s is refused', (_what, content, says) => {
    expect(faultsOf(content)).toEqual([expect.stringMatching(says)]);
  });

  it('has all its faults named, none of them with a word of the file', () => {
    const faults = faultsOf([
      { name: ' secret', role: 'secret', sha256: 'secret', node_id: 'secret', secret: 1 },
      'secret',
    ]);
    expect(faults.map((fault) => fault.split(' ')[0])).toEqual([
      '/0',
      '/0/name',
      '/0/role',
      '/0/sha256',
      '/0/node_id',
      '/1',
    ]);
    expect([...faults, ...faultsOf('[secret]'), ...faultsOf('{"secret": secret')].join()).not.toContain('secret');
  });

  it('must be there', () => {
    expect(readTokensFile('/nowhere/tokens.json')).toEqual({
      ok: false,
      faults: ['must be a file that can be read: ENOENT'],
    });
    expect(readTokensFile('/')).toEqual({ ok: false, faults: ['must be a file that can be read: EISDIR'] });
  });
});

describe('who may write to a tokens file', () => {
  const own = { uid: 1000, gid: 1000 };

  it.each([
    ['ours, readable by all', 0o100644, 1000, 1000, {}],
    ['ours, closed', 0o100600, 1000, 1000, {}],
    ["root's, as a mounted secret", 0o100644, 0, 0, {}],
    ["root's, for our group to read", 0o100440, 0, 1000, {}],
    ['writable by all', 0o100666, 1000, 1000, { fault: expect.stringMatching(/writable by others: chmod go-w/) }],
    ['writable by another group', 0o100664, 1000, 50, { fault: expect.stringMatching(/chmod go-w/) }],
    ["writable by root's group", 0o100664, 0, 0, { fault: expect.stringMatching(/chmod go-w/) }],
    ['writable by our own group', 0o100664, 1000, 1000, { warning: expect.stringMatching(/group 1000/) }],
    ["somebody else's", 0o100644, 1001, 1000, { warning: expect.stringMatching(/belongs to user 1001/) }],
  ])('%s', (_what, mode, uid, gid, expected) => {
    expect(judgeFile({ mode, uid, gid }, own)).toEqual(expected);
  });

  it('is judged where a link leads', () => {
    const folder = mkdtempSync(join(tmpdir(), 'mediator-tokens-'));
    try {
      const [file, link] = [join(folder, 'data'), join(folder, 'tokens.json')];
      writeFileSync(file, JSON.stringify([ann]));
      symlinkSync('data', link);
      chmodSync(file, 0o644);
      expect(readTokensFile(link)).toMatchObject({ ok: true, tokens: [{ name: 'ann' }] });
      chmodSync(file, 0o666);
      expect(readTokensFile(link)).toMatchObject({ ok: false, faults: [expect.stringMatching(/go-w/)] });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
