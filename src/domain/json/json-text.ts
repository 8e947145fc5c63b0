/** PostgreSQL stores neither NUL nor half a surrogate pair, and RFC 8785 cannot hash the latter. */
export function isWellFormed(text: string): boolean {
  return !text.includes('\0') && !/\p{Surrogate}/u.test(text);
}

/** The RFC 6901 pointer to the member `key` of what `parent` points to. */
export function pointerTo(parent: string, key: string | number): string {
  if (typeof key === 'number') return `${parent}/${key}`;
  return `${parent}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

const LONGEST_QUOTE = 80;

/** What the submitter wrote, fit to stand in a sentence: short, and well-formed even where what was written is not. */
export function quoted(text: string): string {
  // By code point: a cut in the middle of a surrogate pair would make an ill-formed answer.
  const points = [...text.slice(0, 2 * LONGEST_QUOTE)];
  const short = text.length > LONGEST_QUOTE ? `${points.slice(0, LONGEST_QUOTE).join('')}…` : text;
  return isWellFormed(short) ? `"${short}"` : 'this text';
}

const SAFE_DIGITS = 15;
const HELD = 'that a double holds exactly; send it as a string where its digits matter.';

/**
 * What is wrong with a number as it is written. Whoever reads JSON as doubles, as most do, must read the very number: an
 * integer (only zeros behind its point, if it has one) exactly, any other to the next double. With an exponent it is none that
 * claims to be exact.
 */
export function judgeNumber(written: string): string | undefined {
  if (written.length <= SAFE_DIGITS) return /e/i.test(written) ? judgeRange(written) : undefined;
  const integer = /^(-?\d+)(?:\.0*)?$/.exec(written)?.[1];
  const range = judgeRange(written);
  if (range !== undefined || integer === undefined) return range;
  return BigInt(integer) === BigInt(Number(integer)) ? undefined : `An integer must be one ${HELD}`;
}

function judgeRange(written: string): string | undefined {
  const value = Number(written);
  const lost = !Number.isFinite(value) || (value === 0 && /[1-9]/.test(written.split(/e/i, 1)[0]!));
  return lost ? 'A number must be within the range of a double; send it as a string otherwise.' : undefined;
}
