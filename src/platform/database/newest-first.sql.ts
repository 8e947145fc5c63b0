/**
 * A list that is read by an index on (`of`, `at`, `no`), from the newest row to older ones. All are expressions; `of` is there
 * where the index has it, a column with the one value that is wanted.
 */
export interface NewestFirst {
  of?: { column: string; value: string };
  /** When it was. */
  at: string;
  /** Tells apart what was at the same time. */
  no: string;
  /** Only what was at that time or later. */
  from?: string;
  /** Only what was until that time, which counts where it is `<=`. */
  until: readonly ['<' | '<=', time: string];
  /** Only what stands behind this place of the list; undefined: it is read from its beginning. */
  after?: { at: string; no: string } | undefined;
}

/**
 * What such a SELECT asks for, and in which order, so that it reads what it gives and nothing before it. There is one upper
 * bound that the index knows of: of two it might begin at the wrong one. And `of` is part of the bounds and of the order:
 * an index without it, which gives the same order where all rows have the same value, would read the rows of all values. (That
 * it is not null follows from that, which the planner does not see, and an index of such rows asks for.)
 */
export function newestFirst({ of, at, no, from, until, after }: NewestFirst): { where: string; order: string } {
  const [column, value] = of === undefined ? ['', ''] : [`${of.column}, `, `${of.value}, `];
  const [than, time] = until;
  const there = of === undefined ? '' : `${of.column} IS NOT NULL AND `;
  const lower = `${there}(${column}${at}) >= (${value}${from ?? "'-infinity'"})`;
  const upper =
    after === undefined
      ? `(${column}${at}) ${than} (${value}${time})`
      : `(${column}${at}, ${no}) < (${value}${after.at}, ${after.no}) AND (${at} ${than} ${time}) IS TRUE`;
  const order = [...(of === undefined ? [] : [of.column]), at, no].map((one) => `${one} DESC`).join(', ');
  return { where: `${lower} AND ${upper}`, order: `ORDER BY ${order}` };
}

/** The end of a time; null: it is open. */
export function untilTime(to: string): string {
  return `coalesce(${to}::timestamptz, 'infinity')`;
}
