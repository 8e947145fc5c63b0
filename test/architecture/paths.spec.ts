import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from '@jest/globals';

const ROOT = join(import.meta.dirname, '../..');

interface Named {
  /** As it is written. */
  name: string;
  /** From the root. */
  path: string;
}

/** What these files name that is not there, each fault in a line. */
function missing(files: readonly string[], namedIn: (file: string, text: string) => Named[]): string[] {
  return files.flatMap((file) =>
    namedIn(file, readFileSync(join(ROOT, file), 'utf8'))
      .filter(({ path }) => !existsSync(join(ROOT, path)))
      .map(({ name }) => `${file}: ${name}`),
  );
}

const filesOf = (folder: string, ending: RegExp): string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => ending.test(name))
    .map((name) => join(folder, name));

/** Compiled files that a script names: no compiler looks at these paths. */
function compiledIn(_file: string, text: string): Named[] {
  return [...text.matchAll(/dist\/(src\/[\w./-]+)\.js/g)].map(([name, path]) => ({ name, path: `${path}.ts` }));
}

/** The relative links of a page, and the sources that it names in backquotes. */
function pathsIn(file: string, text: string): Named[] {
  const links = [...text.matchAll(/\]\((?!https?:|#|\/)([^)#\s]+)[^)]*\)/g)].map(([, name = '']) => ({
    name,
    path: normalize(join(dirname(file), name)),
  }));
  const sources = [...text.matchAll(/`((?:src|test|scripts|bench|migrations|docs)\/[\w./-]+)`/g)].map(
    ([, name = '']) => ({
      name,
      path: name,
    }),
  );
  return [...links, ...sources];
}

describe('the compiled files that scripts name', () => {
  const scripts = ['scripts', 'bench', 'test'].flatMap((folder) => filesOf(folder, /\.mjs$/));

  it('have their sources', () => {
    expect(scripts.flatMap((file) => compiledIn(file, readFileSync(join(ROOT, file), 'utf8'))).length).toBeGreaterThan(
      10,
    );
    expect(missing(scripts, compiledIn)).toEqual([]);
  });
});

describe('the paths that documents name', () => {
  const pages = ['README.md', ...filesOf('docs', /\.md$/), ...filesOf('bench', /\.md$/)];

  it('are there', () => {
    expect(pages.length).toBeGreaterThan(20);
    expect(missing(pages, pathsIn)).toEqual([]);
  });
});

describe('a path to nowhere', () => {
  it('is seen', () => {
    expect(compiledIn('x.mjs', "import '../dist/src/no/such.js'")).toEqual([
      { name: 'dist/src/no/such.js', path: 'src/no/such.ts' },
    ]);
    expect(pathsIn('docs/a.md', 'see [b](../src/b.ts) and `src/c.ts`, or [there](https://example.com)')).toEqual([
      { name: '../src/b.ts', path: 'src/b.ts' },
      { name: 'src/c.ts', path: 'src/c.ts' },
    ]);
  });
});
