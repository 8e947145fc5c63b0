import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import ts from 'typescript';

export interface Source {
  path: string;
  text: string;
  /** Parsed when it is first asked for. */
  readonly tree: ts.SourceFile;
}

/** Says what is wrong with a file, each fault in a line; nothing where it keeps the rule. */
export type Check = (source: Source) => string[];

function source(path: string, text: string): Source {
  let tree: ts.SourceFile | undefined;
  return {
    path,
    text,
    get tree() {
      return (tree ??= ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true));
    },
  };
}

function read(folder: string): Source[] {
  const root = join(import.meta.dirname, '../..');
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(folder, name))
    .map((path) => source(path, readFileSync(join(root, path), 'utf8')))
    .sort((a, b) => (a.path < b.path ? -1 : 1));
}

const isTest = ({ path }: Source): boolean => /\.(spec|fixture)\.ts$/.test(path) || path.startsWith('test/');

export const EVERYTHING = [...read('src'), ...read('migrations'), ...read('test')];
/** What is compiled and runs: src and migrations, without the tests beside them. */
export const PROGRAM = EVERYTHING.filter((one) => !isTest(one));
export const SRC = PROGRAM.filter(({ path }) => path.startsWith('src/'));
export const TESTS = EVERYTHING.filter(isTest);

/** The folder of src/ that a file stands in; of a file of the application, ''. */
export function roomOf(path: string): string {
  return /^src\/([^/]+)\//.exec(path)?.[1] ?? '';
}

export function descendants(node: ts.Node, found: ts.Node[] = []): ts.Node[] {
  ts.forEachChild(node, (child) => {
    found.push(child);
    descendants(child, found);
  });
  return found;
}

/** `at` in a file, as an editor opens it. */
export function place({ path, tree }: Source, at: ts.Node): string {
  return `${path}:${tree.getLineAndCharacterOfPosition(at.getStart(tree)).line + 1}`;
}

/** Every call of something of this name: `name(…)` or `x.name(…)`. */
export function callsOf({ tree }: Source, name: string): ts.CallExpression[] {
  return descendants(tree)
    .filter(ts.isCallExpression)
    .filter(({ expression }) => {
      if (ts.isPropertyAccessExpression(expression)) return expression.name.text === name;
      return ts.isIdentifier(expression) && expression.text === name;
    });
}

/** The text of a string or template; what a template inserts is left out. Undefined: it is none. */
export function literalText(node: ts.Node | undefined): string | undefined {
  if (node === undefined) return undefined;
  if (ts.isStringLiteralLike(node)) return node.text;
  if (!ts.isTemplateExpression(node)) return undefined;
  return node.head.text + node.templateSpans.map((span) => `…${span.literal.text}`).join('');
}

/** Two tests of one rule: every file keeps it, and the check sees each of these samples break it. */
export function rule(
  name: string,
  files: readonly Source[],
  check: Check,
  broken: readonly (readonly [path: string, text: string])[],
): void {
  describe(name, () => {
    it('holds', () => {
      expect(files.length).toBeGreaterThan(0);
      expect(files.flatMap(check)).toEqual([]);
    });

    it('is seen where it is broken', () => {
      const unseen = broken.filter(([path, text]) => check(source(path, text)).length === 0);
      expect(broken.length).toBeGreaterThan(0);
      expect(unseen).toEqual([]);
    });
  });
}
