import type { Fault } from '../../json/fault-list.js';
import { compileOutputSchema, type Judgement } from '../output-schema.js';
import { LinearPatterns } from '../schema/linear-patterns.js';
import { countValues } from '../schema/is-light.js';

/** A schema takes half a millisecond to compile, even an empty one, and 256 KiB hold 25,000 of those. */
const MOST_SCHEMAS = 250;

/**
 * Bytes bound nothing: 32 KiB of nested `oneOf` took seven seconds to compile, since what it takes grows with the square of
 * the subschemas that stand beside each other. With these bounds the worst contract known takes 0.25 s, and a schema may still
 * describe 250 properties.
 */
const MOST_VALUES = 1_000;
const MOST_VALUES_IN_ALL = 1_500;
/** For all the defaults of a contract together: a fifth of a second, where somebody has made them as dear as they can be. */
const MOST_UNITS = 100_000_000;

/** Each is judged by code of its own, which takes a while to be made. */
const COMPILED_UNITS = 2_000_000;

const COUNTED = 'keywords, names and values together, counted at every level';

/** The schemas of one contract. Equal ones are compiled once, and all draw on one allowance for values and one for patterns. */
export class ContractSchemas {
  readonly #known = new Map<string, Fault | undefined>();
  readonly #patterns = new LinearPatterns();
  #values = 0;
  #units = MOST_UNITS;

  /** Why it is no schema, or one too many. */
  faultOf(schema: unknown): Fault | undefined {
    const text = JSON.stringify(schema);
    if (!this.#known.has(text)) this.#known.set(text, this.#judge(schema));
    return this.#known.get(text);
  }

  /** What is wrong with a value that stands in the contract; nothing where its schema is no good. */
  faultsIn(value: unknown, schema: unknown): Fault[] {
    if (this.faultOf(schema) !== undefined) return [];
    if (this.#units <= 0)
      return [whole('The defaults before this one have used up what judging all of them may cost.')];
    const options = { patterns: this.#patterns, allErrors: true, accepted: true, units: this.#units };
    const compiled = compileOutputSchema(schema, options);
    if (!compiled.ok) return [];
    const { faults, spent }: Judgement = compiled.judge(value);
    this.#units -= spent + COMPILED_UNITS;
    return faults;
  }

  #judge(schema: unknown): Fault | undefined {
    if (this.#known.size >= MOST_SCHEMAS) return whole(`A contract has at most ${MOST_SCHEMAS} different schemas.`);
    const own = countValues(schema);
    if (own > MOST_VALUES) return whole(`A schema has at most ${MOST_VALUES} ${COUNTED}; this one has ${own}.`);
    if (this.#values + own > MOST_VALUES_IN_ALL) {
      return whole(`The schemas of a contract have at most ${MOST_VALUES_IN_ALL} ${COUNTED}; this one exceeds that.`);
    }
    this.#values += own;
    const compiled = compileOutputSchema(schema, { patterns: this.#patterns });
    return compiled.ok ? undefined : compiled.fault;
  }
}

function whole(detail: string): Fault {
  return { pointer: '', detail };
}
