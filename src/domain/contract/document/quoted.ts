import { isWellFormed } from './well-formed.js';

const LONGEST = 80;

/** What the submitter wrote, fit to stand in a sentence: short, and well-formed even where what was written is not. */
export function quoted(text: string): string {
  // By code point: a cut in the middle of a surrogate pair would make an ill-formed answer.
  const points = [...text.slice(0, 2 * LONGEST)];
  const short = text.length > LONGEST ? `${points.slice(0, LONGEST).join('')}…` : text;
  return isWellFormed(short) ? `"${short}"` : 'this text';
}
