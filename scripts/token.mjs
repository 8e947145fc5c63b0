/*
 * `npm run -s token -- --role node --node-id rpi-7 --name rpi-7`: makes a token. The first line is the token itself, which is
 * told this once and stored nowhere; the second is its entry for the file that MEDIATOR_TOKENS_FILE names, which has only
 * its hash. What is wrong with the arguments is said line by line, and the exit code is then 64 (EX_USAGE).
 */
import { createHash, randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';

const EXIT_USAGE = 64;
const ROLES = ['submitter', 'node', 'operator'];
const NAME = /^[\x21-\x7e]([\x20-\x7e]{0,198}[\x21-\x7e])?$/;
const NODE_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;
const USAGE = `usage: npm run -s token -- --name NAME --role submitter|operator
       npm run -s token -- --name NAME --role node --node-id NODE_ID
`;

function refuse(faults) {
  process.stderr.write(`${faults.join('\n')}\n${USAGE}`);
  process.exit(EXIT_USAGE);
}

let values;
try {
  ({ values } = parseArgs({
    options: {
      name: { type: 'string' },
      role: { type: 'string' },
      'node-id': { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    },
  }));
} catch (error) {
  refuse([error.message]);
}
if (values.help) {
  process.stdout.write(USAGE);
  process.exit(0);
}

const { name, role, 'node-id': nodeId } = values;
const faults = [];
if (name === undefined || !NAME.test(name)) {
  faults.push('--name must be 1 to 200 printable ASCII characters, no space at either end');
}
if (!ROLES.includes(role)) faults.push(`--role must be one of ${ROLES.join(', ')}`);
if (role === 'node' && (nodeId === undefined || !NODE_ID.test(nodeId))) {
  faults.push(
    '--node-id must name the node: 1 to 100 characters from A-Z, a-z, 0-9, ".", "_" and "-", the first of them a letter or digit',
  );
}
if (role !== 'node' && nodeId !== undefined) faults.push('--node-id is for --role node only');
if (faults.length > 0) refuse(faults);

const token = `mdt_${randomBytes(32).toString('base64url')}`;
const sha256 = createHash('sha256').update(token).digest('hex');
const entry = { name, role, ...(role === 'node' && { node_id: nodeId }), sha256 };
process.stdout.write(`${token}\n${JSON.stringify(entry)}\n`);
process.stderr.write('The first line is the token: it is not shown again. The second belongs into the tokens file.\n');
