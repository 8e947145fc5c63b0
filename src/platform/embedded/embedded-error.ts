/** What keeps the embedded server from starting; the message is written for the person at the terminal. */
export class EmbeddedError extends Error {
  override name = 'EmbeddedError';
}

/** Something in the data directory, or it itself, is not ours: whoever owns it decides. */
export class EmbeddedOwnerError extends EmbeddedError {
  override name = 'EmbeddedOwnerError';
}

/** No binaries for this machine: another database has to be named. */
export class EmbeddedUnsupportedError extends EmbeddedError {
  override name = 'EmbeddedUnsupportedError';
}

/** Another live Mediator, or a server started by hand, works on the same data. */
export class EmbeddedInUseError extends EmbeddedError {
  override name = 'EmbeddedInUseError';

  constructor(
    readonly location: string,
    readonly pid: number | undefined,
    who: string,
  ) {
    super(
      `The data in ${location} is in use by ${who}${pid === undefined ? '' : ` (pid ${pid})`}. ` +
        'Stop it, or set MEDIATOR_DATA_DIR to another directory.',
    );
  }
}

/** The data was written by another major version of PostgreSQL. */
export class EmbeddedVersionError extends EmbeddedError {
  override name = 'EmbeddedVersionError';
}
