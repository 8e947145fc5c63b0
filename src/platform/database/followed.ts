/** When something was read. */
export interface Moment {
  /** The database's words for it: which transactions were seen. */
  snapshot: string;
  /** Which life of the database this is from. */
  boot: string;
  /** Milliseconds since 1970, by the clock of the database. */
  now: number;
}

/** What was changed since a moment, each row as it is now; some of it may be known already. */
export interface Changes extends Moment {
  /** What is there no more; the empty string among them: nobody knows which were changed. */
  gone: string[];
}

/**
 * The columns of a moment. A database that crashes may give the number of a transaction that had come to nothing a second
 * time, under a postmaster that lives on: its counters are set back then, which tells one life from the next.
 */
export const MOMENT = `
  pg_current_snapshot()::text AS snapshot,
  concat_ws(' ', pg_postmaster_start_time(), pg_stat_get_bgwriter_stat_reset_time()) AS boot,
  extract(epoch FROM clock_timestamp())::float8 * 1000 AS now`;

/** The condition, in a table of changes, of those that the snapshot $1 has not seen; the index finds where they begin. */
export const UNSEEN = `
  changed >= pg_snapshot_xmin($1::text::pg_snapshot) AND NOT pg_visible_in_snapshot(changed, $1::text::pg_snapshot)`;

/** A thing in the database of which a process keeps a copy. */
export interface Original<Copy, Change extends Changes> {
  /** All of it. The moment is that of its first statement: what happened while it was read is read next. */
  readWhole(): Promise<{ copy: Copy; at: Moment }>;
  readChanges(since: string): Promise<Change>;
  /** Lays it on top, without waiting for anything. */
  learn(copy: Copy, changes: Change): void;
}

/** Who has not looked for longer reads all of it. */
const LONGEST_GAP_MS = 300_000;
/** For how long changes are kept, in seconds: longer than anybody asks for them. */
export const KEPT_SECONDS = (2 * LONGEST_GAP_MS) / 1000;
const MOST_BEGINNINGS = 5;

/*
 * Something of the database in this process's memory, and how it is kept true: triggers note whatever is changed, with the
 * transaction that does it, and a look reads what no earlier look has seen, in the snapshot of one statement. So a look
 * costs what was changed since the last one and not the size of it all, and is as true as reading all of it.
 * It is read whole at first, and again where that cannot be relied on: after an error, after a gap that is longer than
 * changes are kept, in another life of the database, and where a table was emptied at one stroke.
 */
export class Followed<Copy, Change extends Changes> {
  #known: { copy: Copy; at: Moment } | undefined;
  #current: Promise<unknown> = Promise.resolve();
  #next: Promise<Copy> | undefined;

  constructor(private readonly original: Original<Copy, Change>) {}

  /**
   * As it is after this was called. Looks are made one at a time; who comes during one shares the next. The next look
   * changes the copy: what is to agree is taken from it at once, before anything else is waited for.
   */
  look(): Promise<Copy> {
    return (this.#next ??= this.#afterCurrent());
  }

  async #afterCurrent(): Promise<Copy> {
    await this.#current;
    this.#next = undefined;
    const look = this.#lookOnce();
    this.#current = look.catch(() => undefined);
    return look;
  }

  async #lookOnce(): Promise<Copy> {
    let known = this.#known;
    // Whatever fails, the next look begins anew.
    this.#known = undefined;
    for (let beginnings = 0; beginnings < MOST_BEGINNINGS; known = undefined) {
      if (known === undefined) beginnings += 1;
      const { copy, at } = known ?? (await this.original.readWhole());
      const changes = await this.original.readChanges(at.snapshot);
      if (!continues(at, changes)) continue;
      this.original.learn(copy, changes);
      const { snapshot, boot, now } = changes;
      this.#known = { copy, at: { snapshot, boot, now } };
      return copy;
    }
    throw new Error(`it was emptied, or changed beyond following, each of ${MOST_BEGINNINGS} times that it was read`);
  }
}

/** Whether what is known and the changes make up the whole. */
function continues(known: Moment, { boot, now, gone }: Changes): boolean {
  const gap = now - known.now;
  return boot === known.boot && gap >= 0 && gap <= LONGEST_GAP_MS && !gone.includes('');
}
