import { object } from './declared/objects.js';
import { integer, map, type Shape, text } from './declared/shape.js';
import { ATTRIBUTE, ATTRIBUTE_VALUE, CAPABILITY, ROLE } from './names.js';

const MOST_NODES = 64;
export const MOST_ATTRIBUTES = 32;

export const ATTRIBUTES = map({
  name: 'Attributes',
  about: `Attributes with their exact values. ${ATTRIBUTE.says}`,
  keys: ATTRIBUTE,
  values: text(ATTRIBUTE_VALUE),
  most: MOST_ATTRIBUTES,
  says: '"attrs" is an object that maps attribute names to strings.',
  tooMany: `"attrs" has at most ${MOST_ATTRIBUTES} attributes.`,
});

/** The fields of a requirement, for so many nodes. */
const need = (count: Shape<number>, howMany: string) => ({
  as: {
    shape: text(ROLE),
    required: ROLE.says,
    means: 'The name of the role, unique in the contract, acquired roles included.',
  },
  capability: {
    shape: text(CAPABILITY),
    required: CAPABILITY.says,
    means: 'An open vocabulary: nodes define it by advertising it.',
  },
  count: { shape: count, means: howMany },
  attrs: {
    shape: ATTRIBUTES,
    means: `At most ${MOST_ATTRIBUTES}. The reserved attribute \`node_id\` asks for one node by name.`,
  },
});

const says = 'A requirement is an object with "as" and "capability".';

/** What a role of the run needs: `count` (1 where absent) distinct nodes that offer `capability` with every one of `attrs`. */
export const REQUIREMENT = object({
  name: 'Requirement',
  about:
    'What a role of the run needs. A node satisfies it when one of its advertised entries has the same capability and ' +
    'every requested attribute with an equal value; what the entry has besides does not matter.',
  says,
  fields: need(
    integer(1, MOST_NODES, (range) => `"count" is an integer ${range}.`),
    'How many distinct nodes. Absent: 1.',
  ),
});

/** What an acquire wants: one node. */
export const WANTED = object({
  name: 'WantedNode',
  about: 'What a role needs for which one more node is taken while the run is going: a `Requirement` of one node.',
  says,
  fields: need(
    integer(1, 1, () => 'An acquire takes one node: "count" is 1, or left out.'),
    '1, or left out.',
  ),
});
