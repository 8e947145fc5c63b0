import { Latch } from '../latch.js';

/** Up to where something has been read. */
export interface SnapshotMark {
  /** Which transactions were visible, as the database writes it. */
  snapshot: string;
  /** Which run of the database server this is from. */
  boot: string;
  /** Milliseconds since 1970, by the clock of the database. */
  now: number;
}

/** What was changed since a mark, each row as it is now; some of it may be known already. */
export interface Changes extends SnapshotMark {
  /** The ids of what exists no longer. An empty string among them: nobody knows which rows were changed. */
  gone: string[];
}

/**
 * The columns of a mark. A database that crashes may give the number of a transaction that had come to nothing a second
 * time, while its postmaster lives on: but then it resets its counters, so the time of that is part of `boot`.
 */
export const SNAPSHOT_MARK = `
  pg_current_snapshot()::text AS snapshot,
  concat_ws(' ', pg_postmaster_start_time(), pg_stat_get_bgwriter_stat_reset_time()) AS boot,
  extract(epoch FROM clock_timestamp())::float8 * 1000 AS now`;

/** The condition, in a table of changes, for those that the snapshot $1 has not seen; the index finds where they begin. */
export const UNSEEN = `
  changed >= pg_snapshot_xmin($1::text::pg_snapshot) AND NOT pg_visible_in_snapshot(changed, $1::text::pg_snapshot)`;

/** How a copy is read and kept up to date. */
export interface CacheSource<Copy, Change extends Changes> {
  /** Reads everything. The mark is that of the first statement: what was changed while the rest was read is read next. */
  readWhole(): Promise<{ copy: Copy; mark: SnapshotMark }>;
  readChanges(since: string): Promise<Change>;
  /** Changes the copy, without waiting for anything. */
  apply(copy: Copy, changes: Change): void;
}

/** After a longer gap than this everything is read. */
const LONGEST_GAP_MS = 300_000;
/** For how long changes are kept, in seconds: longer than anybody asks for them. */
export const KEPT_SECONDS = (2 * LONGEST_GAP_MS) / 1000;
const MOST_BEGINNINGS = 5;

/*
 * A copy of a table in this process's memory, and how it is kept true: triggers note whatever is changed, with the
 * transaction that does it, and a refresh reads what no earlier one has seen, in the snapshot of one statement. So a refresh
 * costs what was changed since the last one and not the size of the table, and is as true as reading all of it.
 * Everything is read at first, and again where the changes cannot be relied on: after an error, after a gap that is longer
 * than changes are kept, after a restart of the database, and where a table was truncated.
 */
export class CachedTable<Copy, Change extends Changes> {
  readonly #refreshes = Latch.shared<void, Copy>(() => this.#refreshOnce());
  #known: { copy: Copy; mark: SnapshotMark } | undefined;

  constructor(private readonly source: CacheSource<Copy, Change>) {}

  /**
   * The copy, as true as a read that begins now. The next refresh changes it: what has to agree is taken from it at once,
   * before anything else is waited for.
   */
  refresh(): Promise<Copy> {
    return this.#refreshes.enter();
  }

  async #refreshOnce(): Promise<Copy> {
    let known = this.#known;
    // Whatever fails, the next refresh begins anew.
    this.#known = undefined;
    for (let beginnings = 0; beginnings < MOST_BEGINNINGS; known = undefined) {
      if (known === undefined) beginnings += 1;
      const { copy, mark } = known ?? (await this.source.readWhole());
      const changes = await this.source.readChanges(mark.snapshot);
      if (!continues(mark, changes)) continue;
      this.source.apply(copy, changes);
      const { snapshot, boot, now } = changes;
      this.#known = { copy, mark: { snapshot, boot, now } };
      return copy;
    }
    throw new Error(
      `each of the ${MOST_BEGINNINGS} times that it was read whole, it was truncated or changed too much`,
    );
  }
}

/** Whether what is known and the changes make up the whole. */
function continues(known: SnapshotMark, { boot, now, gone }: Changes): boolean {
  const gap = now - known.now;
  return boot === known.boot && gap >= 0 && gap <= LONGEST_GAP_MS && !gone.includes('');
}
