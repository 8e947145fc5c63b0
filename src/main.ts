import 'reflect-metadata';
import { readConfig, ConfigError } from './platform/config/read-config.js';
import { EmbeddedError, EmbeddedOwnerError } from './platform/embedded/embedded-error.js';
import { DatabaseUnfit } from './platform/sessions/faults.js';
import type { Mediator } from './start-mediator.js';

/** sysexits.h: EX_CONFIG. */
const EXIT_CONFIG = 78;

async function main(): Promise<void> {
  const config = readConfig(process.env);
  let mediator: Mediator | undefined;
  let stopped = false;
  const stop = (): void => {
    if (mediator === undefined) process.exit(0);
    const again = stopped;
    stopped = true;
    // A second signal ends the lingering, and changes nothing else: `npm start` passes on one that its child got as well.
    const done = mediator.stop();
    if (again) return;
    done.then(
      () => process.exit(0),
      (error: unknown) => fail(error),
    );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  // Loaded once the environment is known to be right: to load the program takes longer than to say what is wrong.
  const { startMediator } = await import('./start-mediator.js');
  mediator = await startMediator(config);
  void mediator.databaseLost.then((reason) => {
    if (!stopped) fail(new Error(`the embedded PostgreSQL ended: ${reason}`));
  });
  const notice = mediator.notice === undefined ? '' : ` (${mediator.notice})`;
  process.stdout.write(`Mediator is ready at ${mediator.url}, its API is described at ${mediator.url}/docs${notice}\n`);
}

function fail(error: unknown): never {
  if (error instanceof ConfigError) {
    process.stderr.write(`${error.faults.join('\n')}\n`);
    process.exit(EXIT_CONFIG);
  }
  process.stderr.write(`${sentenceOf(error)}\n`);
  process.exit(error instanceof DatabaseUnfit || error instanceof EmbeddedOwnerError ? EXIT_CONFIG : 1);
}

/** What a person can fix gets a sentence, a fault of the program its stack. */
function sentenceOf(error: unknown): string {
  const { code, message, stack } = error as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE' || code === 'EACCES') return `${message}; set PORT or HOST to another`;
  return error instanceof EmbeddedError || error instanceof DatabaseUnfit ? error.message : (stack ?? String(error));
}

main().catch(fail);
