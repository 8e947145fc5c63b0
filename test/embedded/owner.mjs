// A Mediator's process as far as the embedded server is concerned: node owner.mjs <compiled sources> <data directory>.
// Prints one line of JSON when it has started or failed; stops when its input ends.
const [sources, dataDir] = process.argv.slice(2);
const { startEmbedded } = await import(`${sources}/src/platform/embedded/start-embedded.js`);
const tell = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);
try {
  const { url, location, notice, stop } = await startEmbedded({
    dataDir,
    settings: { fsync: 'off' },
    log: (line) => tell({ log: line }),
  });
  tell({ started: { url, location, notice } });
  process.stdin.resume().once('end', () => void stop().then(() => process.exit(0)));
} catch (error) {
  tell({ failed: { name: error.name, message: error.message } });
  process.exitCode = 1;
}
