/** A named point that the program passes. */
export interface Point {
  name: string;
  /** The strand of the workload that passes it most often, and how often. */
  strand: number;
  times: number;
}

/** How a server dies: at which passing of which point, or at the COMMIT that comes then. */
export interface Death {
  kind: string;
  point: Point;
  passing: number;
  /** Which strand goes on meanwhile; or several do, that of the point among them. */
  strand?: number;
  /** It is killed by the way to the database, where its COMMIT is: not passed on, or done and its answer not passed on. */
  commit?: 'unsent' | 'unanswered';
  /** The one that is started after it dies as well, while its start-up wake makes up for this one. */
  again?: boolean;
}

const isStatement = (point: string): boolean => point.includes(':');
const isBefore = (point: string): boolean => point.endsWith('.before-commit');
const isBehind = (point: string): boolean => point.endsWith('.committed');
const isOther = (point: string): boolean => !isStatement(point) && !isBefore(point) && !isBehind(point);

/** Its first report frees the node that the next one waits for. */
const QUEUE = 0;

/** What is killed where, and so many of a hundred. */
const KINDS: { kind: string; share: number; at: (point: string) => boolean; more?: Partial<Death> }[] = [
  { kind: 'killed between two statements', share: 50, at: isStatement },
  { kind: 'killed between two transactions', share: 5, at: isOther },
  { kind: 'killed before its COMMIT', share: 5, at: isBefore },
  { kind: 'killed while its COMMIT was on the way', share: 10, at: isBefore, more: { commit: 'unsent' } },
  { kind: 'killed at a COMMIT that got no answer', share: 10, at: isBefore, more: { commit: 'unanswered' } },
  { kind: 'killed between COMMIT and wake', share: 15, at: isBehind },
  {
    kind: 'killed after a COMMIT, and again in the wake that makes up for it',
    share: 5,
    at: (point) => point === 'report.committed',
    more: { again: true, strand: QUEUE, passing: 1 },
  },
];

/** Only a stop passes it. */
export function isOfStop({ point }: Death): boolean {
  return point.name.startsWith('put-back-notice');
}

/** So many deaths of all kinds, spread over all the points that were met; the same for the same seed. */
export function chooseDeaths(points: Point[], count: number, seed: number): Death[] {
  const random = generator(seed);
  return KINDS.flatMap(({ kind, share, at, more }) => {
    const fitting = shuffled(
      points.filter(({ name }) => at(name)),
      random,
    );
    return Array.from({ length: Math.round((count * share) / 100) }, (_, index): Death => {
      const point = fitting[index % fitting.length]!;
      return { kind, point, passing: 1 + Math.floor(random() * point.times), ...more };
    });
  });
}

function shuffled<T>(items: T[], random: () => number): T[] {
  for (let i = items.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [items[i], items[j]] = [items[j]!, items[i]!];
  }
  return items;
}

/** Marsaglia's xorshift: numbers from 0 to below 1. */
function generator(seed: number): () => number {
  let state = seed | 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}
