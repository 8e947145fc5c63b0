// `npm run pack:version -- <revision>`: compiles that revision and packs it for the upgrade tests, which start it beside this one.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const packed = join(root, 'test/upgrade/version-before.tgz');
const revision = process.argv[2];
if (revision === undefined) {
  process.stderr.write('Say which revision, such as a tag: npm run pack:version -- v0.1.0\n');
  process.exit(2);
}

const folder = mkdtempSync(join(tmpdir(), 'mediator-version-'));
try {
  const archive = execFileSync('git', ['archive', revision], { cwd: root, maxBuffer: 1 << 30 });
  execFileSync('tar', ['-x', '-C', folder], { input: archive });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  const nest = join(root, 'node_modules/@nestjs/cli/bin/nest.js');
  execFileSync(process.execPath, [nest, 'build'], { cwd: folder, stdio: 'inherit' });
  execFileSync('tar', ['-cz', '--exclude=*.map', '--exclude=*.d.ts', '-f', packed, 'dist', 'package.json'], {
    cwd: folder,
  });
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.stdout.write(`${packed}: ${Math.round(statSync(packed).size / 1024)} KiB\n`);
