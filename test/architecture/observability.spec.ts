import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import type { MetricObject } from 'prom-client';
import ts from 'typescript';
import { Metrics } from '../../src/platform/metrics/metrics.js';
import { type Check, descendants, literalText, place, rule, type Source, SRC } from './program.js';

const PAGE = readFileSync(join(import.meta.dirname, '../../docs/observability.md'), 'utf8');

/** The rows of every table below this heading, each cell without the backquotes around its words. */
function rowsBelow(heading: string, page = PAGE): string[][] {
  const section = page.split(/^## /m).find((part) => part.startsWith(`${heading}\n`));
  if (section === undefined) throw new Error(`docs/observability.md has no section ${heading}`);
  const lines = section.split('\n').filter((line) => line.startsWith('| '));
  const isHead = (index: number): boolean => /^\| -/.test(lines[index + 1] ?? '') || /^\| -/.test(lines[index]!);
  return lines.filter((_, index) => !isHead(index)).map((line) => line.split('|').slice(1, -1).map(plain));
}

const plain = (cell: string): string => cell.replaceAll('`', '').trim();
const listed = (names: readonly string[]): string => [...names].sort().join(', ');
const sortedCell = (cell: string): string => listed(cell.split(', '));

/** The names of an object's properties; undefined where it takes any from elsewhere. */
function keysOf(object: ts.ObjectLiteralExpression): string[] | undefined {
  const names = object.properties.map(({ name }) => (name && ts.isIdentifier(name) ? name.text : undefined));
  return names.every((name) => name !== undefined) ? names : undefined;
}

function valueOf(object: ts.ObjectLiteralExpression, key: string): ts.Expression | undefined {
  const found = object.properties.find(({ name }) => name?.getText() === key);
  return found && ts.isPropertyAssignment(found) ? found.initializer : undefined;
}

describe('the metrics of docs/observability.md', () => {
  const { registry, process: ofProcess } = new Metrics();
  const counted = [registry, ofProcess].flatMap((each) =>
    each.getMetricsAsArray().map((metric: MetricObject & { labelNames?: readonly string[] }) => {
      return [metric.name, metric.constructor.name.toLowerCase(), listed(metric.labelNames ?? [])];
    }),
  );
  /** Those that are made when somebody scrapes. */
  const scraped = SRC.flatMap(({ tree }) => descendants(tree))
    .filter(ts.isNewExpression)
    .filter(({ expression }) => expression.getText() === 'Gauge')
    .map(({ arguments: [options] = [] }) => {
      const given = options as unknown as ts.ObjectLiteralExpression;
      const labels = valueOf(given, 'labelNames') as ts.ArrayLiteralExpression | undefined;
      const names = labels?.elements.map((label) => literalText(label)!) ?? [];
      return [literalText(valueOf(given, 'name'))!, 'gauge', listed(names)];
    });

  it('are those that the program has, with their types and labels', () => {
    const rows = rowsBelow('Metrics')
      .filter(([, , , meaning]) => process.platform === 'linux' || !meaning!.includes('(Linux only)'))
      .map(([name, type, labels]) => [name, type, sortedCell(labels!)]);
    expect(scraped.length).toBeGreaterThan(0);
    expect(rows.map(String).sort()).toEqual([...counted, ...scraped].map(String).sort());
  });

  it('each have a meaning and a unit', () => {
    expect(rowsBelow('Metrics').filter(([, , , meaning, unit]) => !meaning || !unit)).toEqual([]);
  });
});

/** Nest's names of levels, as a line has them. */
const LEVELS: Record<string, string> = { log: 'info', debug: 'debug', warn: 'warn', error: 'error', fatal: 'fatal' };
/** It hands on what others write. */
const WRITER = 'src/platform/logging/json-logger.ts';

interface LogEvent {
  where: string;
  room: string;
  level: string;
  msg: string | undefined;
  fields: string[] | undefined;
}

/** `x.warn(…)`, `this.#warn(…)`, `warn(…)`; and `request.log[level](…)`, whose levels the condition before it names. */
function levelOf({ expression }: ts.CallExpression, tree: ts.SourceFile): string | undefined {
  if (ts.isElementAccessExpression(expression))
    return expression.getText() === 'request.log[level]' ? 'any' : undefined;
  const name = ts.isPropertyAccessExpression(expression) ? expression.name.text : expression.getText(tree);
  return LEVELS[name.replace('#', '')];
}

/** The room of a file's logger; a line about a request has none. */
function loggerOf({ tree }: Source): string {
  const made = descendants(tree)
    .filter(ts.isNewExpression)
    .find(({ expression }) => expression.getText() === 'Logger');
  return literalText(made?.arguments?.[0]) ?? 'none';
}

/** Every line that a file may log: an object with `msg`, given to something that is called as a level is. */
function logEventsOf(file: Source): LogEvent[] {
  return descendants(file.tree)
    .filter(ts.isCallExpression)
    .flatMap((call) => {
      const [line] = call.arguments;
      const level = levelOf(call, file.tree);
      if (level === undefined || line === undefined || !ts.isObjectLiteralExpression(line)) return [];
      const msg = valueOf(line, 'msg');
      const fields = keysOf(line)?.filter((name) => name !== 'msg');
      const text = msg && ts.isStringLiteral(msg) ? msg.text : undefined;
      return [{ where: place(file, call), room: loggerOf(file), level, msg: text, fields }];
    });
}

const isLogger = (called: ts.Expression): boolean =>
  ts.isPropertyAccessExpression(called) &&
  called.name.text in LEVELS &&
  /(^|[.#\s])(logger|log)$|Logger\([^)]*\)$/.test(called.expression.getText());

/** A logger is given an object, or a `line` that somebody else has written as one. */
const hasOneText: Check = (file) => {
  const loose = descendants(file.tree)
    .filter(ts.isCallExpression)
    .filter(({ expression }) => isLogger(expression))
    .filter(({ arguments: [line] }) => line && !ts.isObjectLiteralExpression(line) && line.getText() !== 'line')
    .map((call) => place(file, call));
  const varying = logEventsOf(file).filter(({ msg, fields }) => msg === undefined || fields === undefined);
  return [...loose, ...varying.map(({ where }) => where)];
};

rule(
  'the text of a log line never varies, and its fields are named: what varies is in them',
  SRC.filter(({ path }) => path !== WRITER),
  hasOneText,
  [
    ['src/queue/sweep.ts', "this.#logger.warn('a sweep gave up')"],
    ['src/queue/sweep.ts', 'this.#logger.warn({ msg: `run ${id} failed`, id })'],
    ['src/queue/sweep.ts', "new Logger('queue').error({ msg: 'a sweep failed', ...whys })"],
    ['src/queue/sweep.ts', "this.#warn({ msg: why, cause: 'b' })"],
  ],
);

describe('the log events of docs/observability.md', () => {
  const logged = SRC.filter(({ path }) => path !== WRITER).flatMap(logEventsOf);

  it('are those that the program writes, with their rooms, levels and fields', () => {
    expect(logged.length).toBeGreaterThan(20);
    const written = logged.map(({ room, level, msg, fields }) => [room, level, msg, listed(fields!)].join(' | '));
    const rows = rowsBelow('Log events').map(([room, level, msg, fields]) =>
      [room, level === 'info, debug' ? 'any' : level, msg, sortedCell(fields!)].join(' | '),
    );
    expect(rows.sort()).toEqual(written.sort());
  });

  it('each have a meaning, and say what to do', () => {
    expect(rowsBelow('Log events').filter(([, , , , meaning, advice]) => !meaning || !advice)).toEqual([]);
  });
});

const EVENT_FILE = /append-event|events\.sql/;

describe('the run events of docs/observability.md', () => {
  const declared = SRC.flatMap(({ tree }) => descendants(tree))
    .filter(ts.isTypeAliasDeclaration)
    .filter(({ name }) => ['EventKind', 'NodeEventKind'].includes(name.text))
    .flatMap(({ type }) => (ts.isUnionTypeNode(type) ? type.types : []))
    .map((one) => literalText((one as ts.LiteralTypeNode).literal)!);

  it('are the kinds that there are', () => {
    expect(declared.length).toBeGreaterThan(0);
    expect(
      rowsBelow('Run events')
        .map(([kind]) => kind)
        .sort(),
    ).toEqual([...declared].sort());
  });

  it('are each written somewhere', () => {
    const texts = SRC.filter(({ path }) => !EVENT_FILE.test(path)).map(({ text }) => text);
    expect(declared.filter((kind) => !texts.some((text) => text.includes(`'${kind}'`)))).toEqual([]);
  });

  it('each have their data, and say when they are written', () => {
    expect(rowsBelow('Run events').filter(([, data, when]) => !data || !when)).toEqual([]);
  });
});

describe('a page that is wrong', () => {
  it('is seen: a row that is too much or missing changes what is read', () => {
    const page =
      '## Metrics\n\n| metric | type |\n| --- | --- |\n| `a` | gauge |\n\n| metric | type |\n| - | - |\n| `b` | x |\n';
    expect(rowsBelow('Metrics', page)).toEqual([
      ['a', 'gauge'],
      ['b', 'x'],
    ]);
  });
});
