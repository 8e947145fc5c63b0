import fc from 'fast-check';

/** Decisions that were drawn beforehand; when they are used up, everything is 0, which is always the plainest choice. */
export class Dice {
  #at = 0;

  constructor(private readonly rolls: readonly number[]) {}

  /** From 0 to below `sides`. */
  roll(sides: number): number {
    return (this.rolls[this.#at++] ?? 0) % sides;
  }

  of<T>(choices: readonly T[]): T {
    return choices[this.roll(choices.length)]!;
  }
}

export function rolls(): fc.Arbitrary<number[]> {
  return fc.array(fc.nat({ max: 59 }), { maxLength: 200, size: 'max' });
}
