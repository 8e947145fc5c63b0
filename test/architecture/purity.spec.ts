import ts from 'typescript';
import { descendants, place, roomOf, rule, type Source, SRC } from './program.js';

const DOMAIN = SRC.filter(({ path }) => roomOf(path) === 'domain');

const CLOCKS_AND_DICE = new Set([
  'Date',
  'performance',
  'setTimeout',
  'setInterval',
  'setImmediate',
  'queueMicrotask',
  'process',
  'crypto',
  'console',
  'fetch',
  'globalThis',
]);

/** Names that a file takes from its surroundings, not members of something else. */
function free({ tree }: Source): ts.Identifier[] {
  return descendants(tree)
    .filter(ts.isIdentifier)
    .filter((one) => {
      const { parent } = one;
      if (ts.isPropertyAccessExpression(parent)) return parent.name !== one;
      return !ts.isPropertyAssignment(parent) && !ts.isPropertySignature(parent);
    });
}

rule(
  'the domain has no clock, no dice and no surroundings',
  DOMAIN,
  (file) => [
    ...free(file)
      .filter(({ text }) => CLOCKS_AND_DICE.has(text))
      .map((one) => place(file, one)),
    ...descendants(file.tree)
      .filter((node) => node.getText(file.tree) === 'Math.random')
      .map((node) => place(file, node)),
  ],
  [
    ['src/domain/late.ts', 'const now = new Date();'],
    ['src/domain/late.ts', 'const now = Date.now();'],
    ['src/domain/late.ts', 'const chosen = Math.random();'],
    ['src/domain/late.ts', 'setTimeout(() => undefined, 1);'],
    ['src/domain/late.ts', 'const home = process.env.HOME;'],
  ],
);

rule(
  'of node the domain takes a hash',
  DOMAIN,
  (file) =>
    file.tree.statements
      .filter(ts.isImportDeclaration)
      .filter(({ moduleSpecifier }) => /^'node:/.test(moduleSpecifier.getText()))
      .filter((one) => !/^import \{ createHash \} from 'node:crypto';$/.test(one.getText()))
      .map((one) => place(file, one)),
  [
    ['src/domain/id.ts', "import { randomUUID } from 'node:crypto';"],
    ['src/domain/id.ts', "import { readFileSync } from 'node:fs';"],
  ],
);

rule(
  'the domain waits for nothing',
  DOMAIN,
  (file) =>
    descendants(file.tree)
      .filter((node) => ts.isAwaitExpression(node) || node.kind === ts.SyntaxKind.AsyncKeyword)
      .map((node) => place(file, node)),
  [['src/domain/match.ts', 'export async function match() {}']],
);
