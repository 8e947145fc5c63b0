import { RE2JS } from 're2js';

/** `.{1000}` is seven characters and a thousand instructions: length alone bounds nothing, size alone is known too late. */
const LONGEST = 1_000;
const MOST_INSTRUCTIONS = 100_000;
/** What any pattern counts at least: the code around it takes its time to compile as well. */
const FEWEST_INSTRUCTIONS = 250;

/** Regular expressions that take time linear in the text (RE2), within one allowance for all of them. */
export class LinearPatterns {
  private readonly compiled = new Map<string, RE2JS>();
  private left = MOST_INSTRUCTIONS;

  /** Throws with a reason where the pattern is none, or one that only backtracking could run. */
  compile(pattern: string): RE2JS {
    const known = this.compiled.get(pattern);
    if (known !== undefined) return known;
    if (pattern.length > LONGEST) throw new Error(`it is longer than ${LONGEST} characters`);
    if (this.left <= 0) throw new Error('the patterns together are too large');
    const regexp = RE2JS.compile(RE2JS.translateRegExp(pattern));
    this.left -= Math.max(regexp.programSize(), FEWEST_INSTRUCTIONS);
    if (this.left < 0) throw new Error('the patterns together are too large');
    this.compiled.set(pattern, regexp);
    return regexp;
  }

  /** Why the pattern cannot be used; undefined where it can. */
  refusal(pattern: string): string | undefined {
    try {
      this.compile(pattern);
      return undefined;
    } catch (error) {
      return (error as Error).message;
    }
  }
}
