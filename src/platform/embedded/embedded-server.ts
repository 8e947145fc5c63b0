export interface EmbeddedServer {
  /** For `pg` and TypeORM: a unix socket in a folder of mode 0700. */
  url: string;
  /** Where the data lies. */
  location: string;
  /** A sentence for the operator if that is not under `dataDir`. */
  notice?: string;
  /** Fast shutdown, clean; resolves when it is gone and the directory is free for another. */
  stop(): Promise<void>;
  /** Resolves if the server ends without `stop()`, and only then. */
  exited: Promise<{ reason: string }>;
}
