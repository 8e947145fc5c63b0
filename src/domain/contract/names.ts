import { BY_DEFAULT, NOT_BY_DEFAULT } from '../verdict.js';
import type { Spelling } from './declared/shape.js';

/** Characters as a regular expression lists them, and as a sentence does. */
interface Alphabet {
  set: string;
  says: string;
}

const WORD: Alphabet = { set: 'A-Za-z0-9_-', says: 'A-Z, a-z, 0-9, "_" and "-"' };
const FILE: Alphabet = { set: 'A-Za-z0-9._-', says: 'A-Z, a-z, 0-9, ".", "_" and "-"' };
const LOWER: Alphabet = { set: 'a-z0-9._-', says: 'a-z, 0-9, ".", "_" and "-"' };
const RUN: Alphabet = { set: 'A-Za-z0-9._:@+-', says: 'A-Z, a-z, 0-9 and "._:@+-"' };

export const ID = spelt('A step id is', WORD, 64);
export const ROLE = spelt('A role is', WORD, 64);
export const CAPABILITY = spelt('A capability is', LOWER, 100, {
  first: 'a-z0-9',
  says: ', and begins with a letter or digit',
});
export const ATTRIBUTE = spelt('The name of an attribute is', LOWER, 63, {
  first: 'a-z0-9',
  says: ', and begins with a letter or digit',
});
export const OUTPUT = spelt('The name of an output is', FILE, 100, {
  first: 'A-Za-z0-9-',
  says: ', and does not begin with "_" or "."',
});
export const RUN_ID = spelt('A run id is', RUN, 200, {
  except: '\\.{1,2}',
  says: ', and is neither "." nor ".."',
});
export const ATTRIBUTE_VALUE = sized(0, 200, 'The value of an attribute is a string');
export const WORK_PART = sized(1, 200, '"system" and "change_id" are strings');
export const PROMPT = sized(0, 4000, '"prompt" is a string');
export const PRINCIPAL: Spelling = {
  accepts: (text) => text !== '' && text !== BY_DEFAULT,
  says: `Each answerer is the name of a principal: a string that is not empty; it ${NOT_BY_DEFAULT}.`,
  schema: { minLength: 1, pattern: `^(?!${BY_DEFAULT}$)` },
};
export const VARIABLE = matching(
  '^[^=]+$',
  '"env" holds names of environment variables; a name is not empty and contains no "=".',
);
export const ARGUMENT = anyText('Every element of "run" is a string.');

/** Names that refer to what is spelt elsewhere: whether they exist says whether they are right. */
export const STEP_NAME = anyText('This must be the id of a step, a string.');
export const ROLE_NAME = anyText('This must be the name of a role, a string.');
export const OUTPUT_NAME = anyText('This must be the name of an output, a string.');

/** What else is asked of a name. */
interface Besides {
  /** The characters it may begin with. */
  first?: string;
  /** What it is not, as a regular expression. */
  except?: string;
  says: string;
}

/** One to `most` characters of an alphabet. */
function spelt(subject: string, { set, says }: Alphabet, most: number, besides?: Besides): Spelling {
  const not = besides?.except === undefined ? '' : `(?!${besides.except}$)`;
  const first = besides?.first;
  const characters = first === undefined ? `[${set}]{1,${most}}` : `[${first}][${set}]{0,${most - 1}}`;
  return matching(`^${not}${characters}$`, `${subject} 1 to ${most} characters from ${says}${besides?.says ?? ''}.`);
}

function matching(pattern: string, says: string): Spelling {
  const regexp = new RegExp(pattern, 'u');
  return { accepts: (text) => regexp.test(text), says, schema: { pattern } };
}

/** Sizes count characters, as PostgreSQL and JSON Schema do, not UTF-16 units. */
function sized(least: number, most: number, subject: string): Spelling {
  return {
    accepts: (text) =>
      text.length >= least && (text.length <= most || (text.length <= 2 * most && [...text].length <= most)),
    says: `${subject} of ${least === 0 ? 'at most' : `${least} to`} ${most} characters.`,
    schema: { ...(least > 0 && { minLength: least }), maxLength: most },
  };
}

function anyText(says: string): Spelling {
  return { accepts: () => true, says, schema: {} };
}
