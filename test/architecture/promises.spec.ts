import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';

const DOCS = join(import.meta.dirname, '../../docs');

/** Places that a page names and that are not there: files, and names of tests, “in quotes”, that none of the files of its line has. */
function missing(page: string): string[] {
  return page.split('\n').flatMap((line) => {
    const paths = [...line.matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, path]) => path!);
    const gone = paths.filter((path) => !existsSync(join(DOCS, path)));
    const tests = paths.filter((path) => path.endsWith('.spec.ts') && !gone.includes(path));
    const titles = tests.map((path) => readFileSync(join(DOCS, path), 'utf8')).join('\n');
    const names = tests.length === 0 ? [] : [...line.matchAll(/“([^”]+)”/g)].map(([, name]) => name!);
    return [...gone, ...names.filter((name) => !titles.includes(name))];
  });
}

describe('docs/promises.md', () => {
  const page = readFileSync(join(DOCS, 'promises.md'), 'utf8');

  it('has a section for each of the ten promises, with what keeps it, what tries it and what is not covered', () => {
    const sections = page.split(/^## /m).filter((section) => /^P\d/.test(section));
    expect(sections.map((section) => /^P\d+/.exec(section)![0])).toEqual(
      Array.from({ length: 10 }, (_, index) => `P${index + 1}`),
    );
    for (const section of sections) {
      for (const part of ['**By.**', '**Tried by**', '**Not covered.**']) expect(section).toContain(part);
    }
  });

  it('names files and tests that there are', () => {
    expect(missing(page)).toEqual([]);
  });

  it('is seen to name others', () => {
    const here = '../test/architecture/promises.spec.ts';
    expect(missing(`- [a](../test/no.spec.ts), [b](${here}): “is seen to name others”`)).toEqual([
      '../test/no.spec.ts',
    ]);
    const none = ['no', 'such', 'test'].join(' ');
    expect(missing(`- [b](${here}): “${none}”`)).toEqual([none]);
  });
});
