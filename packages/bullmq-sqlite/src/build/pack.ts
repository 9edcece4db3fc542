// `npm pack` and `npm publish` run this script before packing (`prepack`) and after it
// (`postpack`). In the repository, the package is TypeScript source that Node 24 runs directly. The
// packed package is JavaScript with type declarations, and its manifest points to them.
import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

const PACKAGE = join(import.meta.dirname, '../..');
const ROOT = join(PACKAGE, '../..');
const DIST = join(PACKAGE, 'dist');
const MANIFEST = join(PACKAGE, 'package.json');
/** The file that keeps the repository's manifest while the packed manifest replaces it. */
const KEPT = join(PACKAGE, 'package.json.kept');
const EXPORTS = { '.': { types: './dist/index.d.ts', default: './dist/index.js' } };

function pack(): void {
  // Cleans up after an interrupted run.
  restoreManifest();
  rmSync(DIST, { recursive: true, force: true });
  const compiler = join(ROOT, 'node_modules/.bin/tsc');
  execFileSync(compiler, ['-p', join(PACKAGE, 'tsconfig.build.json')], { stdio: 'inherit' });
  for (const name of readdirSync(DIST).filter((file) => file.endsWith('.d.ts'))) {
    const text = readFileSync(join(DIST, name), 'utf8');
    // The compiler rewrites `.ts` imports to `.js` in code only, not in declarations.
    writeFileSync(join(DIST, name), text.replace(/(from '\.\/[\w-]+)\.ts'/g, "$1.js'"));
  }
  copyFileSync(join(ROOT, 'LICENSE'), join(PACKAGE, 'LICENSE'));
  copyFileSync(MANIFEST, KEPT);
  const {
    scripts: _scripts,
    devDependencies: _dev,
    ...manifest
  } = JSON.parse(readFileSync(MANIFEST, 'utf8'));
  writeFileSync(MANIFEST, `${JSON.stringify({ ...manifest, exports: EXPORTS }, null, 2)}\n`);
}

function restoreManifest(): void {
  if (existsSync(KEPT)) renameSync(KEPT, MANIFEST);
  rmSync(join(PACKAGE, 'LICENSE'), { force: true });
}

if (process.argv.includes('--restore')) restoreManifest();
else pack();
