import { BY_DEFAULT, NOT_BY_DEFAULT } from '../verdict.js';
import type { TextRule } from './document/place.js';

/** The spelling of every kind of name and text in a contract. */
export const ID = spelt(/^[A-Za-z0-9_-]{1,64}$/, 'A step id is 1 to 64 characters from A-Z, a-z, 0-9, "_" and "-".');
export const ROLE = spelt(/^[A-Za-z0-9_-]{1,64}$/, 'A role is 1 to 64 characters from A-Z, a-z, 0-9, "_" and "-".');
export const CAPABILITY = spelt(
  /^[a-z0-9][a-z0-9._-]{0,99}$/,
  'A capability is 1 to 100 characters from a-z, 0-9, ".", "_" and "-", and begins with a letter or digit.',
);
export const ATTRIBUTE = spelt(
  /^[a-z0-9][a-z0-9._-]{0,62}$/,
  'The name of an attribute is 1 to 63 characters from a-z, 0-9, ".", "_" and "-", and begins with a letter or digit.',
);
export const ATTRIBUTE_VALUE = sized(0, 200, 'The value of an attribute is a string of at most 200 characters.');
export const OUTPUT = spelt(
  /^(?![_.])[A-Za-z0-9._-]{1,100}$/,
  'The name of an output is 1 to 100 characters from A-Z, a-z, 0-9, ".", "_" and "-", and does not begin with "_" or ".".',
);
export const RUN_ID: TextRule = {
  accepts: (text) => /^[A-Za-z0-9._:@+-]{1,200}$/.test(text) && text !== '.' && text !== '..',
  says: 'A run id is 1 to 200 characters from A-Z, a-z, 0-9 and "._:@+-", and is neither "." nor "..".',
};
export const WORK_PART = sized(1, 200, '"system" and "change_id" are strings of 1 to 200 characters.');
export const PROMPT = sized(0, 4000, '"prompt" is a string of at most 4000 characters.');
export const PRINCIPAL: TextRule = {
  accepts: (text) => text !== '' && text !== BY_DEFAULT,
  says: `Each answerer is the name of a principal: a string that is not empty; it ${NOT_BY_DEFAULT}.`,
};
export const VARIABLE = spelt(
  /^[^=]+$/,
  '"env" holds names of environment variables; a name is not empty and contains no "=".',
);
export const ARGUMENT = sized(0, Infinity, 'Every element of "run" is a string.');

/** Names that refer to what is spelt elsewhere: whether they exist says whether they are right. */
export const STEP_NAME = sized(0, Infinity, 'This must be the id of a step, a string.');
export const ROLE_NAME = sized(0, Infinity, 'This must be the name of a role, a string.');
export const OUTPUT_NAME = sized(0, Infinity, 'This must be the name of an output, a string.');

function spelt(pattern: RegExp, says: string): TextRule {
  return { accepts: (text) => pattern.test(text), says };
}

/** Sizes count characters, as PostgreSQL does, not UTF-16 units. */
function sized(least: number, most: number, says: string): TextRule {
  return {
    accepts: (text) =>
      text.length >= least && (text.length <= most || (text.length <= 2 * most && [...text].length <= most)),
    says,
  };
}
