import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { tell, tries } from '../support/storm.js';
import { chooseDeaths, type Death, type Point } from './crashes/deaths.js';
import { Line } from './crashes/line.js';
import { STRANDS } from './crashes/strands.js';

jest.setTimeout(tries(300_000, 3_600_000));

/** Each has a database of its own, and while a server of one starts, that of another works. In `npm test` the other core has other suites. */
const LINES = tries(1, 2);
const KILLS = tries(10, 220);
const SEED = Number(process.env.STORM_SEED ?? 7);

/** It asks how an upload that is over would be refused, and so always rolls back: nothing of it can be lost. */
const NEVER_COMMITTED = ['end-upload'];

/** The names of all transactions that the program has, by its text. */
function transactionsOf(folder: string): string[] {
  const texts = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.spec.ts'))
    .map((name) => readFileSync(join(folder, name), 'utf8'));
  const names = texts.flatMap((text) =>
    [...text.matchAll(/\.transaction(?:<[^(]*>)?\(\s*'([a-z-]+)'/g)].map(([, name]) => name!),
  );
  return [...new Set(names)].sort();
}

/** What goes on meanwhile: the strand that passes the point, with one other in `npm test` and with all others in a storm. */
function strandsOf({ strand, point }: Death): number[] {
  if (strand !== undefined) return [strand];
  const others = STRANDS.length - 1;
  return Array.from({ length: 1 + tries(1, others) }, (_, index) => (point.strand + index) % STRANDS.length);
}

const nameOf = ({ kind, point, passing }: Death): string => `${kind}: ${point.name}, passing ${passing}`;

describe('a server that is killed', () => {
  const lines: Line[] = [];
  let points: Point[];
  beforeAll(async () => {
    for (let index = 1; index <= LINES; index++) lines.push(await Line.open(`line${index}`));
    points = await lines[0]!.discover();
  });
  afterAll(async () => {
    for (const line of lines) await line.close();
  });

  it('is killed in every transaction there is: the workload meets them all', () => {
    const transactions = transactionsOf(join(process.cwd(), 'src'));
    expect(transactions.length).toBeGreaterThan(20);
    const names = points.map(({ name }) => name);
    const met = (name: string): boolean =>
      names.includes(`${name}.committed`) && names.some((point) => point.startsWith(`${name}:`));
    expect(transactions.filter((name) => !met(name))).toEqual(NEVER_COMMITTED);
  });

  it('has kept whatever it has promised, and its successor strands nobody and finishes everything', async () => {
    const deaths = chooseDeaths(points, KILLS, SEED);
    const tally = new Map(deaths.map(({ kind }) => [kind, { times: 0, checked: 0, lost: 0 }]));
    const missed: string[] = [];
    const broken: string[] = [];
    const left = [...deaths];
    const along = async (line: Line): Promise<void> => {
      for (let death = left.shift(); death !== undefined; death = left.shift()) {
        const outcome = await line.die(death, strandsOf(death)).catch((cause: unknown) => {
          left.length = 0;
          throw new Error(nameOf(death), { cause });
        });
        if (!outcome.died || outcome.diedAgain !== (death.again ?? false)) missed.push(nameOf(death));
        const row = tally.get(death.kind)!;
        row.times += Number(outcome.died) + Number(outcome.diedAgain);
        row.checked += outcome.looked;
        row.lost += outcome.broken.length;
        broken.push(...outcome.broken.map((what) => `${what}, when ${nameOf(death)}`));
      }
    };
    const ends = await Promise.allSettled(lines.map(along));
    for (const [what, row] of tally) tell({ what, ...row, of: 'promises of answers' });
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
    for (const line of lines) await line.expectRecordsWhole(tries(3, 25));
    expect(broken).toEqual([]);
    expect(missed).toEqual([]);
    const kills = [...tally.values()].reduce((sum, { times }) => sum + times, 0);
    expect(kills).toBeGreaterThanOrEqual(KILLS);
  });
});
