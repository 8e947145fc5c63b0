import { Dice } from '../../../src/domain/steps/dice.fixture.js';

/** Dice that fall the same for the same seed (mulberry32). */
export function diceOf(seed: number, rolls: number): Dice {
  let state = seed >>> 0;
  const roll = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
  return new Dice(Array.from({ length: rolls }, roll));
}
