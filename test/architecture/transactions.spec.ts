import ts from 'typescript';
import { callsOf, type Check, descendants, place, roomOf, rule, SRC } from './program.js';

rule(
  'one file opens transactions',
  SRC.filter(({ path }) => path !== 'src/platform/database/transaction.ts'),
  (file) =>
    ['startTransaction', 'commitTransaction', 'rollbackTransaction', 'createQueryRunner']
      .flatMap((name) => callsOf(file, name))
      // A read outside any transaction and the migrations' lock take a connection, and no transaction.
      .filter(
        ({ expression }) =>
          !(
            expression.getText().endsWith('.createQueryRunner') &&
            /^src\/platform\/(database|sessions|migrations)\//.test(file.path)
          ),
      )
      .map((call) => place(file, call)),
  [
    ['src/runs/cancel-run.ts', 'await runner.startTransaction();'],
    ['src/runs/cancel-run.ts', 'const runner = source.createQueryRunner();'],
  ],
);

/** The class or function, at the top of its file, that a call stands in. */
function topLevel(call: ts.Node): ts.Node {
  let node = call;
  while (!ts.isSourceFile(node.parent)) node = node.parent;
  return node;
}

const opensOne: Check = (file) => {
  const opened = callsOf(file, 'transaction');
  return opened
    .filter((call) => opened.some((other) => other !== call && topLevel(other) === topLevel(call)))
    .map((call) => place(file, call));
};

rule(
  'a use case opens exactly one transaction',
  SRC.filter(({ path }) => !path.startsWith('src/platform/')),
  opensOne,
  [
    [
      'src/runs/cancel-run.ts',
      "class Cancel { a() { this.db.transaction('a', work); } b() { this.db.transaction('b', work); } }",
    ],
  ],
);

/** A step is given its transaction: by its parameter, or since it stands in a room or a file of steps. */
const stepsOpenNone: Check = (file) =>
  callsOf(file, 'transaction')
    .filter((call) => {
      if (['fleet', 'leases', 'steps'].includes(roomOf(file.path)) || /\.(sql|controller)\.ts$/.test(file.path))
        return true;
      for (let node: ts.Node = call; node.parent; node = node.parent) {
        if (ts.isFunctionLike(node) && node.parameters.some(({ type }) => type?.getText() === 'Tx')) return true;
      }
      return false;
    })
    .map((call) => place(file, call));

rule(
  'steps, statements and controllers open no transaction',
  SRC.filter(({ path }) => !path.startsWith('src/platform/')),
  stepsOpenNone,
  [
    ['src/steps/end-run.ts', "database.transaction('settle', work)"],
    ['src/runs/cancel-run.ts', "function end(tx: Tx) { return database.transaction('end', work); }"],
    ['src/runs/runs.controller.ts', "this.database.transaction('cancel', work)"],
  ],
);

/** What wakes and seals: the release edge for every request, the reaper, and the start. */
const EDGE =
  /^src\/reaper\/(reaper-pass|leftovers)\.ts$|^src\/start-mediator\.ts$|^src\/queue\/(queue\.service|release-edge)\.ts$/;

rule(
  'only the edges wake the queue',
  SRC,
  (file) => (EDGE.test(file.path) ? [] : callsOf(file, 'wake').map((call) => place(file, call))),
  [['src/leases/release.ts', "await this.queue.wake('result');"]],
);

rule(
  'only the edges seal records',
  SRC,
  (file) =>
    EDGE.test(file.path) || file.path.startsWith('src/records/')
      ? []
      : callsOf(file, 'seal').map((call) => place(file, call)),
  [['src/steps/end-run.ts', 'await this.record.seal([runId]);']],
);

/** The probe is one statement. */
const CONTROLLERS_WITH_A_STATEMENT: ReadonlySet<string> = new Set(['src/health/health.controller.ts']);

rule(
  'a controller sees use cases, not the database',
  SRC.filter(({ path }) => path.endsWith('.controller.ts') && !CONTROLLERS_WITH_A_STATEMENT.has(path)),
  (file) =>
    file.tree.statements
      .filter(ts.isImportDeclaration)
      .filter(({ moduleSpecifier }) => /\.sql\.js'$|\/database\/database\.js'$/.test(moduleSpecifier.getText()))
      .map((one) => place(file, one)),
  [['src/runs/runs.controller.ts', "import { readRun } from './read-runs.sql.js';"]],
);

rule(
  'no forwardRef, no ModuleRef, no event bus',
  SRC,
  (file) =>
    descendants(file.tree)
      .filter(ts.isIdentifier)
      .filter(({ text }) => ['forwardRef', 'ModuleRef', 'EventEmitter2', 'EventBus', 'CommandBus'].includes(text))
      .map((one) => place(file, one)),
  [['src/steps/steps.module.ts', '@Module({ imports: [forwardRef(() => QueueModule)] }) class StepsModule {}']],
);

/** `import type` of an injected class compiles, and fails when the application starts. */
const injectsValues: Check = (file) => {
  const typeOnly = new Set(
    file.tree.statements.filter(ts.isImportDeclaration).flatMap(({ importClause }) => {
      const bindings = importClause?.namedBindings;
      if (!importClause || !bindings || !ts.isNamedImports(bindings)) return [];
      return bindings.elements
        .filter(({ isTypeOnly }) => isTypeOnly || importClause.phaseModifier === ts.SyntaxKind.TypeKeyword)
        .map(({ name }) => name.text);
    }),
  );
  return descendants(file.tree)
    .filter(ts.isClassDeclaration)
    .filter((one) =>
      ts.getDecorators(one)?.some(({ expression }) => /^(Injectable|Controller)\(/.test(expression.getText())),
    )
    .flatMap(({ members }) => members.filter(ts.isConstructorDeclaration))
    .flatMap(({ parameters }) => parameters.filter(({ type }) => type && typeOnly.has(type.getText())))
    .map((one) => place(file, one));
};

rule('what is injected is imported as a value', SRC, injectsValues, [
  [
    'src/runs/show-run.ts',
    "import type { Database } from './d.js'; @Injectable() class A { constructor(d: Database) {} }",
  ],
  [
    'src/runs/show-run.ts',
    "import { type Database } from './d.js'; @Injectable() class A { constructor(d: Database) {} }",
  ],
]);

rule(
  'controllers and DTOs stand in files of that name, where the OpenAPI plugin looks for them',
  SRC,
  (file) =>
    descendants(file.tree)
      .filter(ts.isClassDeclaration)
      .filter((one) => {
        const isController = ts
          .getDecorators(one)
          ?.some(({ expression }) => expression.getText().startsWith('Controller('));
        if (isController && !file.path.endsWith('.controller.ts')) return true;
        return (one.name?.text.endsWith('Dto') ?? false) && !file.path.endsWith('.dto.ts');
      })
      .map((one) => place(file, one)),
  [
    ['src/runs/runs.ts', "@Controller('v1/runs') class Runs {}"],
    ['src/runs/run.ts', 'export class RunDto {}'],
  ],
);
