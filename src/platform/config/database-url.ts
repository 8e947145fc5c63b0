import pg from 'pg';

const SHAPE =
  'DATABASE_URL must be postgres://user:password@host:5432/database, in which a character of the user or password ' +
  'that is neither a letter nor a digit is written as %, then its code in hexadecimal (%40 for @)';

/** What is wrong with it, without a word of what it says: a password may be in it. */
export function faultsOfDatabaseUrl(url: string): string[] {
  if (!/^postgres(ql)?:\/\//.test(url)) return ['DATABASE_URL must begin with postgres:// or postgresql://'];
  try {
    // Of its readers some pass over what cannot be decoded and others throw; a NUL ends what is sent to PostgreSQL.
    if (decodeURIComponent(url).includes('\0')) return [SHAPE];
    // It only reads the URL, and the files that the URL names.
    const { port } = new pg.Client({ connectionString: url });
    return Number.isInteger(port) && port > 0 && port < 65_536 ? [] : ['DATABASE_URL must have a port from 1 to 65535'];
  } catch (error) {
    const { code, path } = error as NodeJS.ErrnoException;
    const file = code !== undefined && path !== undefined;
    return [file ? `DATABASE_URL must name files that can be read: ${path} cannot (${code})` : SHAPE];
  }
}
