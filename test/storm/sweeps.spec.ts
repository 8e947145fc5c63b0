import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { matchIsNaiveMatch } from '../../src/domain/matching/judged-match.fixture.js';
import {
  sweepIsNaiveSweep,
  sweepPassesOver,
  sweepSurvivesFailedBundles,
} from '../../src/domain/sweep/judged-sweep.fixture.js';
import { tell, tries } from '../support/storm.js';

/** The properties beside the matcher and the sweep are always of the same cases; these are of others each time. */
const CASES = tries(500, 20_000);

describe('the matcher and the sweep, beside their references', () => {
  it(`matches what trying every assignment matches (${CASES} cases)`, () => {
    let matched = 0;
    fc.assert(
      matchIsNaiveMatch(() => (matched += 1)),
      { numRuns: CASES },
    );
    tell({
      what: 'requirements matched, and tried one by one',
      times: CASES,
      checked: matched,
      of: 'matches',
      lost: 0,
    });
    expect(matched).toBeGreaterThan(CASES / 10);
  });

  it(`promotes what looking at every run promotes (${CASES} cases)`, () => {
    let all = 0;
    fc.assert(
      sweepIsNaiveSweep((promotions) => (all += promotions)),
      { numRuns: CASES },
    );
    tell({ what: 'queues swept by groups, and run by run', times: CASES, checked: all, of: 'promotions', lost: 0 });
    expect(all).toBeGreaterThan(CASES);
  });

  it('promotes so where promotions fail, alone or in a bundle, and where runs leave meanwhile', () => {
    const size = { numRuns: CASES / 5 };
    fc.assert(sweepPassesOver('fails'), size);
    fc.assert(sweepPassesOver('leaves'), size);
    fc.assert(sweepSurvivesFailedBundles(), size);
  });
});
