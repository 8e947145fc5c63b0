/* One group of figures, in a process of its own: neither its memory nor what it has compiled is that of another. */
import { Bench } from './parts/bench.mjs';

const { name, options } = JSON.parse(process.argv[2]);
const report = (message) => new Promise((resolve) => process.send(message, resolve));

// Whoever started this has gone: nobody wants the figures.
process.on('disconnect', () => process.exit(1));

try {
  if (name === 'self-test') {
    const { selfTest } = await import('./reference/self-test.mjs');
    await selfTest(new Bench(options, report).databases);
  } else {
    const { measure } = await import(`./groups/${name}.mjs`);
    await measure(new Bench(options, report));
  }
  await report({ done: true });
} catch (error) {
  await report({ error: error.stack ?? String(error) });
  process.exitCode = 1;
}
// Whatever a peer has left open keeps nobody waiting.
process.exit();
