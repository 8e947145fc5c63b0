import { expect } from '@jest/globals';
import fc from 'fast-check';
import type { Requirement } from '../contract/contract.js';
import type { Advert } from './fleet.js';
import { match, type MatchResult } from './match.js';
import { naiveMatch } from './naive-match.fixture.js';
import { RankedFleet } from './ranked-fleet.js';

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
const capability = fc.constantFrom('x', 'y', 'z');
const attrs = fc.record({ k: fc.constantFrom('1', '2'), l: fc.constant('1') }, { requiredKeys: [] });
const entry = fc.record({ capability, attrs });

/** At most seven nodes, few enough for every assignment to be tried, in any order. */
export const fleets = fc
  .array(fc.array(entry, { minLength: 1, maxLength: 3 }), { maxLength: NAMES.length })
  .chain((offers) =>
    fc.shuffledSubarray(NAMES, { minLength: offers.length, maxLength: offers.length }).map((names) =>
      offers.map((capabilities, i): Advert => {
        const node_id = names[i]!;
        return { node_id, label: node_id, offer_rev: 1, capabilities };
      }),
    ),
  );

const wantedAttrs = fc.oneof(
  { weight: 6, arbitrary: fc.constant({}) },
  { weight: 2, arbitrary: attrs },
  { weight: 1, arbitrary: fc.constantFrom(...NAMES).map((node_id) => ({ node_id })) },
);
const requirement = fc.record({
  capability,
  attrs: wantedAttrs,
  count: fc.constantFrom(undefined, 1, 1, 2, 3),
});

export const requirements = fc
  .array(requirement, { minLength: 1, maxLength: 4 })
  .map((list): Requirement[] => list.map((one, i) => ({ as: `r${i}`, ...one })));

export const unavailableNodes = fc.subarray(NAMES).map((names) => new Set(names));

/**
 * The matcher gives what its reference gives: the same nodes; or `busy` where only the nodes that are free do not do,
 * `offline` where only the live ones do not, or `unsatisfiable`; and of all that exist the live ones first. `onMatched` is
 * called with how many nodes a match took.
 */
export function matchIsNaiveMatch(onMatched: (nodes: number) => void = () => undefined): fc.IProperty<unknown> {
  const silentNodes = fc.oneof(fc.constant(new Set<string>()), unavailableNodes);
  const judged = (
    requires: Requirement[],
    spread: boolean,
    fleet: Advert[],
    unavailable: Set<string>,
    silent: Set<string>,
    cap: number,
  ): void => {
    const nodes = fleet.map((advert) => ({ ...advert, silent: silent.has(advert.node_id) }));
    const live = nodes.filter((node) => !node.silent);
    const free = live.filter(({ node_id }) => !unavailable.has(node_id));
    const ever = naiveMatch({ requires, spread }, nodes);
    const otherwise = naiveMatch({ requires, spread }, live) ? 'busy' : ever ? 'offline' : 'unsatisfiable';
    const existing = RankedFleet.of(
      live,
      nodes.filter((node) => node.silent),
    );

    const result = match(requires, spread, live, unavailable, { cap, existing: () => existing });

    expect(outcomeOf(result)).toEqual(naiveMatch({ requires, spread }, free, cap) ?? otherwise);
    expect(outcomeOf(match(requires, spread, existing, new Set()))).toEqual(ever ?? 'unsatisfiable');
    if (result.kind === 'matched') onMatched(result.nodes.length);
  };
  const caps = fc.constantFrom(0, 0, 1, 2, 3);
  return fc.property(requirements, fc.boolean(), fleets, unavailableNodes, silentNodes, caps, judged);
}

function outcomeOf(result: MatchResult): string | string[][] {
  return result.kind === 'matched' ? result.assigned.map(({ nodes }) => nodes.map((one) => one.node_id)) : result.kind;
}
