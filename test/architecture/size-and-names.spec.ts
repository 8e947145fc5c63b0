import { describe, expect, it } from '@jest/globals';
import ts from 'typescript';
import { type Check, descendants, EVERYTHING, place, PROGRAM, rule, type Source, SRC } from './program.js';

const MOST_LINES = 350;
const MEDIAN_LINES = 100;
const MOST_DEPENDENCIES = 5;

const linesOf = ({ text }: Source): number => text.split('\n').length - 1;

rule(
  `no file has more than ${MOST_LINES} lines`,
  EVERYTHING,
  (file) => (linesOf(file) > MOST_LINES ? [`${file.path}: ${linesOf(file)} lines`] : []),
  [['src/runs/long.ts', '//\n'.repeat(MOST_LINES + 1)]],
);

describe('the middle file', () => {
  const median = (counts: number[]): number => counts.sort((a, b) => a - b)[Math.floor(counts.length / 2)]!;

  it(`has fewer than ${MEDIAN_LINES} lines`, () => {
    expect(median(PROGRAM.map(linesOf))).toBeLessThan(MEDIAN_LINES);
  });

  it('is found', () => {
    expect(median([300, 1, 100])).toBe(100);
  });
});

const constructors: Check = (file) =>
  descendants(file.tree)
    .filter(ts.isConstructorDeclaration)
    .filter(({ parameters }) => parameters.length > MOST_DEPENDENCIES)
    .map((one) => `${place(file, one)}: ${one.parameters.length} dependencies`);

rule(`no constructor takes more than ${MOST_DEPENDENCIES} dependencies`, SRC, constructors, [
  ['src/runs/wide.ts', 'class Wide { constructor(a: A, b: B, c: C, d: D, e: E, f: F) {} }'],
]);

const NO_NAMES = /(^|[-.])(utils?|helpers?|commons?|managers?|misc)([-.]|$)|^index\.ts$/;

rule(
  'no file is a drawer or a barrel',
  EVERYTHING,
  ({ path }) => (NO_NAMES.test(path.slice(path.lastIndexOf('/') + 1)) ? [path] : []),
  [
    ['src/runs/utils.ts', ''],
    ['src/runs/date-helpers.ts', ''],
    ['src/runs/index.ts', ''],
  ],
);

rule(
  'nothing is left to do',
  EVERYTHING.filter(({ path }) => !path.startsWith('test/architecture/')),
  ({ path, text }) => [...text.matchAll(/\b(TODO|FIXME|XXX|HACK)\b/g)].map(([word]) => `${path}: ${word}`),
  [['src/runs/later.ts', '// TODO: the rest']],
);

/** Several exports of one kind: the file has the name of what they have in common. */
const NAMED_AFTER_WHAT_THEY_SHARE: ReadonlySet<string> = new Set([
  'migrations/all.ts',
  'src/domain/contract/contract-identity.ts',
  'src/domain/contract/graph.ts',
  'src/domain/contract/names.ts',
  'src/domain/contract/step-parts.ts',
  'src/domain/contract/valid-steps.ts',
  'src/domain/json/json-text.ts',
  'src/domain/matching/fleet.ts',
  'src/domain/problem-codes.ts',
  'src/domain/states.ts',
  'src/docs/operations.ts',
  'src/platform/access/token.ts',
  'src/platform/sessions/faults.ts',
  'src/platform/embedded/locks.ts',
  'src/platform/embedded/own-files.ts',
  'src/platform/http/body-chunks.ts',
  'src/platform/http/early-faults.ts',
  'src/platform/http/json-body.ts',
  'src/platform/http/lease-header.ts',
  'src/platform/http/path-parameters.ts',
  'src/platform/http/shared-headers.ts',
  'src/platform/http/well-formed.ts',
  'src/reaper/leftovers.ts',
  'src/runs/run-version.ts',
]);

function exportsOf({ tree }: Source): string[] {
  return tree.statements.flatMap((statement): string[] => {
    if (ts.isExportDeclaration(statement) && statement.exportClause && ts.isNamedExports(statement.exportClause)) {
      return statement.exportClause.elements.map(({ name }) => name.text);
    }
    if (!ts.canHaveModifiers(statement)) return [];
    if (!ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)) return [];
    if (ts.isVariableStatement(statement)) {
      return statement.declarationList.declarations.map(({ name }) => name.getText(tree));
    }
    return 'name' in statement ? [(statement.name as ts.Identifier).text] : [];
  });
}

/** The name of some export holds that of the file: `lock-run.sql.ts` has lockRun, `needs.ts` needsOf, `0001-tables.ts` Tables. */
const namedAfterAnExport: Check = (file) => {
  const exported = exportsOf(file);
  if (exported.length === 0 || NAMED_AFTER_WHAT_THEY_SHARE.has(file.path)) return [];
  const base = file.path.slice(file.path.lastIndexOf('/') + 1).replace(/(\.sql|\.decorator)?\.ts$/, '');
  const wanted = base.replace(/^\d+-/, '').replace(/[-.]/g, '').toLowerCase();
  const isIt = (name: string): boolean => name.replaceAll('_', '').toLowerCase().includes(wanted);
  return exported.some(isIt) ? [] : [`${file.path} exports ${exported.join(', ')}`];
};

// Statements, documents of operations, DTOs and examples stand together by what they are about, and are named after that.
rule(
  'a file is named after what it exports',
  PROGRAM.filter(({ path }) => !/\.(sql|api|dto)\.ts$/.test(path) && !path.startsWith('src/docs/examples/')),
  namedAfterAnExport,
  [
    ['src/runs/stop-run.ts', 'export class CancelRun {}'],
    ['src/runs/read-run.ts', 'export const readSteps = 1;'],
  ],
);

describe('the list of files that are named after what their exports share', () => {
  it('names files that there are', () => {
    const paths = new Set(PROGRAM.map(({ path }) => path));
    expect([...NAMED_AFTER_WHAT_THEY_SHARE].filter((path) => !paths.has(path))).toEqual([]);
  });
});
