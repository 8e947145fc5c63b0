import { type Param, prepare, type Query, type Result } from '../sessions/query.js';
import type { Refusal } from './refusals.js';

/** A statement is a value: what is sent, and how its answer is read. To build one sends nothing. */
export interface Statement<T> {
  readonly writes: boolean;
  /** One, but for what `inOrder` has composed. */
  readonly queries: readonly Query[];
  readonly answer: (results: readonly Result[]) => T;
}

/** A statement that changes nothing: it may be sent outside any transaction too, unless it locks. */
export interface Read<T> extends Statement<T> {
  readonly writes: false;
}

export interface Write<T> extends Statement<T> {
  readonly writes: true;
}

/** The answers of a list of statements, in its order. */
export type Answers<List extends readonly Statement<unknown>[]> = {
  -readonly [Index in keyof List]: List[Index] extends Statement<infer T> ? T : never;
};

interface Spec<Row, T> {
  /** Unique: the room, and what it does there. It stands in front of the text, for whoever looks at the sessions of the database. */
  name: string;
  params?: readonly Param[];
  /** Reads the answer; without it nobody wants one. */
  as?: (rows: Row[], touched: number) => T;
}

type Changes =
  | `${string}INSERT INTO ${string}`
  | `${string}DELETE FROM ${string}`
  | `${string}MERGE INTO ${string}`
  | `${string}UPDATE ${string}SET ${string}`;
type Changeless<Text extends string> = Text extends Changes ? 'a statement that changes something is a write' : Text;

/** A statement that changes nothing; a lock is one. */
export function read<const Text extends string, Row, T = void>(
  spec: Spec<Row, T> & { text: Text & Changeless<Text> },
): Read<T> {
  const query = prepare(spec.name, [spec.text], () => {
    if (CHANGES.test(spec.text)) throw new Error(`${spec.name} changes something: it is a write`);
    return spec.text;
  });
  return { writes: false, queries: [{ ...query, params: spec.params }], answer: answerBy(spec.as) };
}

/** How many rows a part of a statement has to touch, one where it does not say, and what it means where it touches others. */
interface Touches {
  part: string;
  rows?: number;
  otherwise: Refusal;
}

type WriteSpec<Row, T> = Spec<Row, T> & {
  /** INSERT, UPDATE or DELETE, whose rows count; or a SELECT of the rows that count from what `with` has written. */
  text: string;
  /** Further parts, each of which is carried out whole: `name AS (…), …`. */
  with?: string;
} & (
    | { rows: 'any' }
    // One row, unless it says another number.
    | { rows?: number; otherwise: Refusal; also?: Touches }
  );

/**
 * A statement that changes something. It says how many rows it has to touch, for several items so many, and what it means
 * otherwise: then the statement itself fails, and a COMMIT that was sent behind it is a rollback. `any`: each number is
 * right, and the answer tells which it was.
 */
export function write<Row, T = void>(spec: WriteSpec<Row, T>): Write<T> {
  const { name, text, params = [], as } = spec;
  const parts = spec.with ?? '';
  if (spec.rows === 'any') {
    const query = prepare(name, [parts, text], () => (parts === '' ? text : `WITH ${parts} ${text}`));
    return { writes: true, queries: [{ ...query, params }], answer: answerBy(as) };
  }
  const { rows, otherwise, also } = spec;
  const query = prepare(name, [parts, text], () => {
    const touches = [{ part: 'written', rows, otherwise }, ...(also === undefined ? [] : [also])];
    return guarded(parts, text, touches, params.length, as !== undefined);
  });
  const given = [...params, ...[rows, also?.rows].filter((one) => one !== undefined)];
  return { writes: true, queries: [{ ...query, params: given }], answer: answerBy(as, rows ?? 1) };
}

/** Each condition is asked of the count of a part, which is always one row; where it does not hold, `refuse` ends the statement. */
function guarded(parts: string, text: string, touches: Touches[], params: number, answered: boolean): string {
  const whole = /^\s*SELECT\b/.test(text) || /\bRETURNING\b/.test(text) ? text : `${text} RETURNING true`;
  let given = params;
  const conditions = touches.map(({ part, rows, otherwise }, index) => {
    const count = rows === undefined ? '1' : `$${++given}::bigint`;
    return `(SELECT FROM ${part} HAVING count(*) = ${count} OR refuse('${otherwise}')) AS touched_${index}`;
  });
  return `WITH ${parts === '' ? '' : `${parts}, `}written AS (${whole})
    SELECT ${answered ? 'written.*' : ''} FROM ${conditions.join(' CROSS JOIN ')} ${answered ? 'LEFT JOIN written ON true' : ''}`;
}

/** Several statements as one value, sent in this order; what has to be sent later than a lock stands behind it. */
export function inOrder<const List extends readonly Statement<unknown>[], T>(
  list: List,
  as: (answers: Answers<List>) => T,
): Statement<T> {
  return {
    writes: list.some(({ writes }) => writes),
    queries: list.flatMap(({ queries }) => queries),
    answer: (results) => {
      let next = 0;
      const answers = list.map(({ queries, answer }) => answer(results.slice(next, (next += queries.length))));
      return as(answers as Answers<List>);
    },
  };
}

/** Where no row was to be touched, the row of the conditions is left. */
function answerBy<Row, T>(as: Spec<Row, T>['as'], most = Infinity): Statement<T>['answer'] {
  return ([result]) => as?.(result!.rows.slice(0, most) as Row[], result!.touched) as T;
}

const CHANGES = /\b(INSERT INTO|DELETE FROM|MERGE INTO|TRUNCATE|UPDATE(?=\s[\s\S]*\bSET\b))\b/;
