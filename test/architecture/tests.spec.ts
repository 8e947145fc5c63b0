import { describe, expect, it } from '@jest/globals';
import ts from 'typescript';
import { callsOf, descendants, EVERYTHING, place, rule, type Source, TESTS } from './program.js';

const SUITES = new Set(['describe', 'it', 'test']);
const SWITCHES = new Set(['only', 'skip', 'todo', 'failing']);
const SWITCHED = new Set(['fit', 'fdescribe', 'ftest', 'xit', 'xdescribe', 'xtest']);

function switched(file: Source): string[] {
  return descendants(file.tree)
    .filter((node) => {
      if (ts.isCallExpression(node) && ts.isIdentifier(node.expression)) return SWITCHED.has(node.expression.text);
      if (!ts.isPropertyAccessExpression(node) || !SWITCHES.has(node.name.text)) return false;
      // `isRoot ? describe : describe.skip`: what only root can see is tested as root.
      return SUITES.has(node.expression.getText().split('.')[0]!) && !ts.isConditionalExpression(node.parent);
    })
    .map((node) => place(file, node));
}

describe('the projects of Jest', () => {
  const configuration = '../../jest.config.mjs';
  const matcher = (glob: string): RegExp =>
    new RegExp(
      `^${glob
        .replace('<rootDir>/', '')
        .replaceAll('.', '\\.')
        .replaceAll('**/', '@')
        .replaceAll('*', '[^/]*')
        .replaceAll('@', '(.*/)?')
        .replace(/\{(.*?)\}/g, (_, words: string) => `(${words.replaceAll(',', '|')})`)}$`,
    );

  it('are seen to match', () => {
    const globs = ['<rootDir>/src/**/*.spec.ts', '<rootDir>/test/{db,http}/**/*.spec.ts'].map(matcher);
    const matched = [
      'src/a.spec.ts',
      'test/http/a/b.spec.ts',
      'test/other/a.spec.ts',
      'src/a.spec.tsx',
      'src/a_spec.ts',
    ];
    expect(matched.map((path) => globs.some((glob) => glob.test(path)))).toEqual([true, true, false, false, false]);
  });

  it('know every test file', async () => {
    const { default: jest } = (await import(configuration)) as { default: { projects: { testMatch: string[] }[] } };
    const globs = jest.projects.flatMap(({ testMatch }) => testMatch).map(matcher);
    const tests = EVERYTHING.map(({ path }) => path).filter((path) => path.endsWith('.spec.ts'));
    expect(tests.filter((path) => !globs.some((glob) => glob.test(path)))).toEqual([]);
  });
});

rule('every test runs', TESTS, switched, [
  ['test/http/a.spec.ts', "it.only('x', () => {})"],
  ['test/http/a.spec.ts', "describe.skip('x', () => {})"],
  ['test/http/a.spec.ts', "it.skip.each([1])('x', () => {})"],
  ['test/http/a.spec.ts', "it.todo('x')"],
  ['test/http/a.spec.ts', "xit('x', () => {})"],
]);

rule(
  'nothing of ours is mocked',
  TESTS.filter(({ path }) => !path.startsWith('test/architecture/')),
  (file) =>
    [...file.text.matchAll(/\bjest\s*\.\s*(mock|unstable_mockModule|doMock)\b/g)].map(
      ([word]) => `${file.path}: ${word}`,
    ),
  [['test/http/a.spec.ts', "jest.mock('pg');"]],
);

rule(
  'no test sleeps: it waits for a state, or stands at a named point',
  // The embedded server is a process of its own, and has no points.
  TESTS.filter(({ path }) => !path.startsWith('test/embedded/') && !path.startsWith('test/architecture/')),
  (file) => [
    ...['setTimeout', 'setInterval', 'sleep', 'pause']
      .flatMap((name) => callsOf(file, name))
      .filter(({ expression }) => expression.getText() !== 'jest.setTimeout')
      .map((call) => place(file, call)),
    ...file.tree.statements
      .filter(ts.isImportDeclaration)
      .filter((one) => /setTimeout|setInterval|scheduler/.test(one.importClause?.getText() ?? ''))
      .map((one) => place(file, one)),
  ],
  [
    ['test/http/a.spec.ts', 'await new Promise((done) => setTimeout(done, 100));'],
    ['test/http/a.spec.ts', "import { setTimeout as later } from 'node:timers/promises';"],
  ],
);

rule(
  'an answer that is fetched is read: one that is not keeps its connection, and Jest waits for it at the end',
  TESTS.filter(({ path }) => !path.startsWith('test/architecture/')),
  (file) =>
    [...file.text.matchAll(/\(await fetch\((?:[^()]|\([^()]*\))*\)\)\.(?:status|headers|ok)/g)].map(
      ([call]) => `${file.path}: ${call}`,
    ),
  [['test/http/a.spec.ts', 'expect((await fetch(`${url}/livez`)).status).toBe(200);']],
);

/** Its server stores nothing. */
const WITHOUT_RUNS: ReadonlySet<string> = new Set(['test/http/docs.spec.ts']);

rule(
  'whoever starts a server looks at the view of invariants afterwards',
  TESTS.filter(({ path }) => path.endsWith('.spec.ts') && !WITHOUT_RUNS.has(path)),
  (file) =>
    callsOf(file, 'startTestMediator').length > 0 &&
    !/\b(violations|invariants|databaseSuite|serverSuite)\b/.test(file.text)
      ? [file.path]
      : [],
  [['test/http/a.spec.ts', 'beforeAll(async () => void (server = await startTestMediator()));']],
);
