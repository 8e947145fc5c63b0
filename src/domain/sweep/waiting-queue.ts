import type { TakenNodes } from '../matching/taken-nodes.js';
import { isOlder, type Needs, type Place, type QueuedRun, type QueueLine } from './queue-line.js';
import { RunsInOrder } from './runs-in-order.js';
import { offeredThings, wantedThing } from './wanted-thing.js';

/** The queued runs of one signature. */
export interface WaitingLine extends Needs {
  wants: string;
  runs: RunsInOrder;
}

/** With more free nodes than this, what they offer is not looked up: every line may be of interest. */
const FEW_FREE = 100;

/**
 * The whole queue, as one and by lines of runs that need the same. Some 250 bytes for each run: 25 MB for 100,000, and
 * what their lines need on top.
 */
export class WaitingQueue {
  readonly #runs = new Map<string, QueuedRun>();
  readonly #inOrder = new RunsInOrder();
  readonly #lines = new Map<string, WaitingLine>();
  readonly #wanted = new Map<string, Set<WaitingLine>>();

  /** How many runs wait. */
  get depth(): number {
    return this.#runs.size;
  }

  /** Puts in a run, or puts it where it belongs now. */
  put({ run_id, arrived, seq, alone }: Omit<QueuedRun, 'signature'>, needs: Needs): void {
    const known = this.#runs.get(run_id);
    if (known !== undefined) {
      if (known.arrived === arrived && known.seq === seq && known.signature === needs.signature) {
        known.alone = alone;
        return;
      }
      this.remove(run_id);
    }
    const line = this.#lines.get(needs.signature) ?? this.#begin(needs);
    // The signature is the line's own: 100,000 copies of it would take as much room as all the rest.
    const run = { run_id, arrived, seq, alone, signature: line.signature };
    this.#runs.set(run_id, run);
    this.#inOrder.add(run);
    line.runs.add(run);
  }

  /** Takes out a run, if it is there. */
  remove(runId: string): void {
    const run = this.#runs.get(runId);
    if (run === undefined) return;
    this.#runs.delete(runId);
    this.#inOrder.delete(run);
    const line = this.#lines.get(run.signature)!;
    line.runs.delete(run);
    if (line.runs.size === 0) this.#end(line);
  }

  lines(): Iterable<WaitingLine> {
    return this.#lines.values();
  }

  /** What the runs of a signature need; undefined where none of it is there. */
  needsOf(signature: string): Needs | undefined {
    return this.#lines.get(signature);
  }

  /** The place of a run among those that wait, from 1, whether it is still there or not. */
  position(place: Place): number {
    return 1 + this.#inOrder.countBefore(place);
  }

  /** So many runs behind a place, or from the first on, in order of arrival. */
  page(limit: number, after: Place = { arrived: -Infinity, seq: 0 }): QueuedRun[] {
    const runs: QueuedRun[] = [];
    for (const run of this.#inOrder.from(after)) {
      if (runs.length === limit) break;
      if (isOlder(after, run)) runs.push(run);
    }
    return runs;
  }

  /** From the run that stands there, or the first behind it, on; only for as long as nothing comes or goes. */
  from(place: Place): Iterable<QueuedRun> {
    return this.#inOrder.from(place);
  }

  /** The lines that the free nodes may be of use to, each with its head. Copies: what happens to the queue leaves them alone. */
  heads(taken: TakenNodes): QueueLine[] {
    const free = taken.free(FEW_FREE + 1);
    if (free.length === 0) return [];
    if (free.length > FEW_FREE) return [...this.#lines.values()].map(beginningOf);
    const things = new Set(free.flatMap((rank) => offeredThings(taken.fleet.at(rank))));
    return [...things].flatMap((thing) => [...(this.#wanted.get(thing) ?? [])].map(beginningOf));
  }

  /** The next run behind this one that needs the same. */
  next({ signature, ...place }: Place & Pick<QueuedRun, 'signature'>): QueuedRun | undefined {
    return this.#lines.get(signature)?.runs.next(place);
  }

  #begin({ signature, requires, spread }: Needs): WaitingLine {
    const line = { signature, requires, spread, wants: wantedThing(requires), runs: new RunsInOrder() };
    this.#lines.set(signature, line);
    const others = this.#wanted.get(line.wants);
    if (others === undefined) this.#wanted.set(line.wants, new Set([line]));
    else others.add(line);
    return line;
  }

  #end(line: WaitingLine): void {
    this.#lines.delete(line.signature);
    const others = this.#wanted.get(line.wants)!;
    others.delete(line);
    if (others.size === 0) this.#wanted.delete(line.wants);
  }
}

function beginningOf({ signature, requires, spread, runs }: WaitingLine): QueueLine {
  return { signature, requires, spread, head: runs.first! };
}
