import fc from 'fast-check';
import type { Model } from '../model/model.js';
import type { Command } from './command.js';
import type { ComparedServer } from './compared-server.js';
import { adverts, clocks, heartbeats, holds, passes, silences } from './node-commands.js';
import { cancels, dryRuns, repetitions, submissions } from './run-commands.js';
import { answers, claims, reports } from './step-commands.js';

/** How often each is drawn. */
const WEIGHTS: [number, fc.Arbitrary<Command>][] = [
  [2, adverts],
  [4, heartbeats],
  [6, submissions],
  [1, repetitions],
  [1, dryRuns],
  [10, claims],
  [10, reports],
  [4, answers],
  [2, cancels],
  [1, clocks],
  [1, passes],
  [2, silences],
  [1, holds],
];

export function commands(maxCommands: number): fc.Arbitrary<Iterable<Command>> {
  const drawn = WEIGHTS.flatMap(([times, arbitrary]) => Array.from({ length: times }, () => arbitrary));
  return fc.commands<Model, ComparedServer, boolean>(drawn, { maxCommands, size: 'max' });
}
