import type { Logger } from 'typeorm';

const say = (): void => undefined;

/** TypeORM writes what it has to say of a migration to the console, whatever `logging` is: whoever asks it is told, too. */
export const SILENT: Logger = {
  logQuery: say,
  logQueryError: say,
  logQuerySlow: say,
  logSchemaBuild: say,
  logMigration: say,
  log: say,
};
