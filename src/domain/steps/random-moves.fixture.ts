import type { StepSpec } from '../contract/contract.js';
import type { ReportedResult } from './judge-result.js';
import type { Dice } from './dice.fixture.js';
import type { Move, PlayedRun } from './played-run.fixture.js';

/** Something that nodes and people could do now; undefined where nothing is left to be done. */
export function nextMove(run: PlayedRun, dice: Dice): Move | undefined {
  const moves: (() => Move)[] = [
    ...run.inState('CLAIMED').map(
      ({ seq, id }) =>
        () =>
          reportOf(run.graph.contract.steps[seq - 1]!, id, seq, dice),
    ),
    ...run.claimable().map(({ seq }) => () => ({ kind: 'claim' as const, seq })),
    ...run.inState('ASKED').map(({ seq }) => () => {
      const { dispatch } = run.graph.contract.steps[seq - 1]!;
      return { kind: 'answer' as const, seq, answer: dispatch ? choice(dispatch.to, dice) : {} };
    }),
  ];
  return moves.length === 0 ? undefined : dice.of(moves)();
}

/** Mostly a good one; a loop is sent round again every other time, and now and then a step fails, in one way or another. */
function reportOf(spec: StepSpec, id: string, seq: number, dice: Dice): Move {
  const report: ReportedResult = spec.run ? { exit_code: 0 } : {};
  const { out = [], dispatch } = spec;
  const uploads: Record<string, string> = Object.fromEntries(out.map((name) => [name, '{}']));
  if (dispatch) uploads[out[0]!] = JSON.stringify(choice(dispatch.to, dice));
  if (spec.run && spec.allow_failure) report.exit_code = dice.roll(3);
  if (spec.loop && dice.roll(2) === 1) {
    if (report.exit_code !== undefined) report.exit_code = 1;
    if (spec.loop.until.produced) delete uploads[out[0]!];
  }
  const mishap = dice.roll(60);
  if (mishap === 59) report.error = `${id} broke`;
  if (mishap === 58 && out.length > 0) delete uploads[out.at(-1)!];
  if (mishap === 57 && spec.run) report.exit_code = 3;
  if (mishap === 56) report.produced = ['never-uploaded'];
  if (mishap > 40 && mishap < 50) report.produced = Object.keys(uploads);
  return { kind: 'report', seq, report, uploads };
}

function choice(to: readonly string[], dice: Dice): unknown {
  return dice.roll(40) === 39 ? { next: 'nowhere' } : { next: dice.of(to) };
}
