import { Databases } from './databases.mjs';
import { figureOf } from './figures.mjs';

/** What a group is given: the databases, how much to measure, and where to put what it has found. */
export class Bench {
  /** `rounds`; `slice`: transactions a slice at 8 connections; `samples`: of a latency, one after the other. */
  constructor({ url, rounds, slice, samples, quick }, report) {
    Object.assign(this, { url, rounds, slice, samples, quick, report });
    this.databases = new Databases(url);
  }

  /** So many that a machine shows what it does when it is warm. */
  get warmUp() {
    return Math.max(20, Math.ceil(this.slice / 4));
  }

  /** Samples of a latency of whose tail nothing is asked. */
  get fewSamples() {
    return Math.ceil(this.samples / 4);
  }

  /** A large number in a real run, a small one where somebody only tries whether it works. */
  scaled(count, tried) {
    return this.quick ? tried : count;
  }

  /**
   * Runs each side once in every round, in turns: whoever comes first in one comes last in the next. Gives the results
   * of each side, one for each round.
   */
  async alternate(sides, rounds = this.rounds) {
    const results = Object.fromEntries(Object.keys(sides).map((name) => [name, []]));
    for (let round = 0; round < rounds; round++) {
      const order = Object.keys(sides);
      if (round % 2 === 1) order.reverse();
      for (const name of order) {
        results[name].push(await sides[name](round));
        this.say(`round ${round + 1} of ${rounds}: ${name}`);
      }
    }
    return results;
  }

  figure(given) {
    this.report({ figure: figureOf(given) });
  }

  say(line) {
    this.report({ line });
  }
}
