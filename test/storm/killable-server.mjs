/*
 * The compiled server, which ends itself by SIGKILL at a named point. It loads the program, says so, and starts when it is
 * told to and with what environment; so the next one is loaded while this one works. What it is told, over the channel to
 * its parent: `{ start }`, `{ arm: { point, passing, ask } }`, `{ disarm }`, `{ go }`.
 */
import { appendFileSync } from 'node:fs';

const { atFailpoints } = await import('../../dist/src/platform/failpoints.js');
await import('../../dist/src/start-mediator.js');

const record = process.env.RECORD_POINTS;
let armed;
let go = () => undefined;

atFailpoints((name) => {
  if (record !== undefined) appendFileSync(record, `${name}\n`);
  if (armed?.point !== name || --armed.passing > 0) return undefined;
  const { ask } = armed;
  armed = undefined;
  // Nothing of this process comes after it: the signal is there when the call returns.
  if (!ask) process.kill(process.pid, 'SIGKILL');
  process.send({ at: name });
  return new Promise((resolve) => (go = resolve));
});

process.on('message', (told) => {
  if ('arm' in told) armed = told.arm;
  if ('disarm' in told) armed = undefined;
  if ('go' in told) go();
  if (!('start' in told)) return;
  Object.assign(process.env, told.start);
  armed = told.arm;
  void import('../../dist/src/main.js');
});
// Whoever started it is gone: nobody would ever stop it.
process.on('disconnect', () => process.exit());
process.send({ loaded: true });
