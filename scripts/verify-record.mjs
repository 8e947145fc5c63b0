/*
 * `npm run -s record:verify FILE.tar [sha256:DIGEST]`: checks the record of a run by nothing but its file. Prints the
 * digest and OK, or one line for each thing that does not fit. Exit code 0: it fits; 1: it does not; 2: there is no
 * such file, it is no tar, or this is not how one calls it. Its bodies are hashed as they are read, never held.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { extract } from 'tar-stream';

const [NO_MATCH, UNREADABLE] = [1, 2];
const DIGEST = /^sha256:[0-9a-f]{64}$/;
const RUN_ID = /^(?!\.\.?$)[A-Za-z0-9._:@+-]{1,200}$/;
const LINE = /^([0-9a-f]{64}) {2}(.+)$/;
const NEEDED = ['manifest.json', 'verdict.json'];
const PLACES = [
  /^(manifest|verdict)\.json$/,
  /^steps\/\d+-[A-Za-z0-9_-]+\.json$/,
  /^logs\/\d+\.\d+-[A-Za-z0-9._%-]+\.log$/,
  /^blobs\/\d+\.\d+-[A-Za-z0-9._%-]+$/,
];
/** Far more than a record can need; only these two files are held in memory. */
const HELD = new Map([
  ['SHA256SUMS', 16 * 1024 ** 2],
  ['manifest.json', 64 * 1024 ** 2],
]);

const [given, expected, ...more] = process.argv.slice(2);
// npm runs scripts in the project's folder, and tells from where it was called.
const file = given && resolve(process.env.INIT_CWD ?? '.', given);
if (given === undefined || more.length > 0 || (expected !== undefined && !DIGEST.test(expected))) {
  stop('usage: npm run -s record:verify FILE.tar [sha256:<64 hex digits>]');
}

const problems = [];
const report = (problem) => problems.push(problem);
/** By path within the top folder: the sum of every file that is there, and the text of those that are read. */
const sums = new Map();
const texts = new Map();
let top;
let entries = 0;

await readTar();
judgeList();
judgeManifest();
const list = texts.get('SHA256SUMS');
const digest = list && `sha256:${createHash('sha256').update(list).digest('hex')}`;
if (digest && expected && digest !== expected) report(`the digest is ${digest}, not ${expected}`);
if (problems.length > 0) {
  for (const problem of problems) console.log(problem);
  process.exitCode = NO_MATCH;
} else {
  console.log(`${digest}\nOK`);
}

async function readTar() {
  const tar = extract();
  tar.on('entry', (header, body, next) => {
    entries += 1;
    readEntry(header, body).then(() => next(), next);
  });
  let end = Buffer.alloc(0);
  try {
    await pipeline(
      createReadStream(file),
      async function* (chunks) {
        for await (const chunk of chunks) {
          end = Buffer.concat([end, chunk]).subarray(-1024);
          yield chunk;
        }
      },
      tar,
    );
  } catch (error) {
    if (error.syscall !== undefined) stop(`${file} cannot be read: ${error.message}`);
    if (entries === 0) stop(`${file} is no tar: ${error.message}`);
    report(`the tar is broken off or damaged: ${error.message}`);
    return;
  }
  if (entries === 0) stop(`${file} is no tar: there is nothing in it`);
  if (end.length < 1024 || end.some((byte) => byte !== 0)) report('the tar is broken off: its end is missing');
}

async function readEntry({ name, type }, body) {
  const [folder, ...rest] = name.split('/');
  const path = rest.join('/');
  const limit = HELD.get(path) ?? 0;
  const held = [];
  const hash = createHash('sha256');
  let size = 0;
  for await (const chunk of body) {
    hash.update(chunk);
    size += chunk.length;
    if (size <= limit) held.push(chunk);
  }

  if (!isSafe(name)) return report(`${quoted(name)} is no safe path`);
  top ??= folder;
  if (folder !== top) return report(`${quoted(name)} lies outside of the folder ${quoted(top)}`);
  if (type === 'directory' && path === '') {
    if (entries > 1) report(`the folder ${quoted(name)} is there twice, or not at the beginning`);
    return;
  }
  if (type !== 'file') return report(`${quoted(name)} is a ${type}, not a file`);
  if (path === '') return report(`${quoted(name)} is a file beside the folder of the record`);
  if (sums.has(path)) return report(`${quoted(path)} is there twice`);
  sums.set(path, hash.digest('hex'));
  if (!HELD.has(path)) return;
  if (size > limit) return report(`${quoted(path)} has ${size} bytes, more than any record needs`);
  texts.set(path, Buffer.concat(held));
}

/** Of parts that are names, and nothing that could lead out of a folder or change a terminal. */
function isSafe(name) {
  const parts = name.replace(/\/$/, '').split('/');
  return !/[\\\p{Cc}]/u.test(name) && parts.every((part) => part !== '' && part !== '.' && part !== '..');
}

/** SHA256SUMS and the files name each other, no more and no less, and every sum is right. */
function judgeList() {
  if (!sums.has('SHA256SUMS')) return report('SHA256SUMS is missing');
  const text = texts.get('SHA256SUMS')?.toString() ?? '';
  if (text !== '' && !text.endsWith('\n')) report('SHA256SUMS: its last line is broken off');
  const listed = new Map();
  let last;
  for (const [index, line] of text
    .split('\n')
    .slice(0, text.endsWith('\n') ? -1 : undefined)
    .entries()) {
    const [, sum, path] = LINE.exec(line) ?? [];
    if (sum === undefined) report(`SHA256SUMS, line ${index + 1}: ${quoted(line)} is not a sum, two spaces and a path`);
    else if (listed.has(path)) report(`SHA256SUMS, line ${index + 1}: ${quoted(path)} is listed twice`);
    else {
      if (last !== undefined && Buffer.compare(Buffer.from(last), Buffer.from(path)) > 0) {
        report(`SHA256SUMS, line ${index + 1}: ${quoted(path)} is not in its place, the paths are not sorted`);
      }
      if (!PLACES.some((place) => place.test(path))) report(`${quoted(path)} is no path of a record`);
      listed.set(path, sum);
      last = path;
    }
  }
  for (const path of NEEDED) if (!listed.has(path)) report(`${quoted(path)} is not listed in SHA256SUMS`);
  for (const [path, sum] of listed) {
    if (!sums.has(path)) report(`${quoted(path)} is missing`);
    else if (sums.get(path) !== sum) report(`${quoted(path)}: its sum is ${sums.get(path)}, not ${sum}`);
  }
  for (const path of sums.keys()) {
    if (path !== 'SHA256SUMS' && !listed.has(path)) report(`${quoted(path)} is there and not listed in SHA256SUMS`);
  }
}

/** The folder is that of the run whose record it is. */
function judgeManifest() {
  const runId = top?.startsWith('run-') ? top.slice('run-'.length) : undefined;
  if (runId === undefined || !RUN_ID.test(runId)) return report(`the folder ${quoted(top)} is not run-<run_id>`);
  const text = texts.get('manifest.json');
  if (text === undefined) return;
  let named;
  try {
    named = JSON.parse(text)?.run_id;
  } catch (error) {
    return report(`manifest.json is not JSON: ${error.message}`);
  }
  if (named !== runId) report(`manifest.json is of the run ${quoted(named)}, the folder of ${quoted(runId)}`);
}

/** On one line, whatever it holds. */
function quoted(text) {
  return /^[\w./:@+-]+$/.test(text) ? text : JSON.stringify(text);
}

function stop(message) {
  console.error(message);
  process.exit(UNREADABLE);
}
