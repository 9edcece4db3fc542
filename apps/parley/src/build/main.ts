import { existsSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { buildBundle } from './build.ts';

const ROOT = join(import.meta.dirname, '../../../..');
/** The packages that generate the types. Container images are built without these packages. */
const TYPES_NEED = ['typescript', 'oxc-parser'];
const [task, folder = process.env.INIT_CWD ?? '.'] = process.argv.slice(2);

// This script is run by `npm run build` and by `npm ci`. Without a bundle, the sources are run, so
// a failed build does not fail the installation. A failed build fails `npm run release:pack`,
// because the release contains only the bundle.
if (task === '--pack') await pack(resolve(folder));
else if (task === '--types') (await import('./types/build-types.ts')).buildTypes(ROOT);
else if (task === '--refuse-pack') refusePack();
else {
  try {
    await build();
  } catch (error) {
    process.stderr.write(
      `The bundle could not be built, so Parley runs from its sources and starts more slowly: ${error}\n`,
    );
  }
}

async function build(): Promise<void> {
  const done = await buildBundle(ROOT);
  const text = done === 'built' ? 'The bundle was built' : 'The bundle is up to date';
  process.stderr.write(`${text}: dist/\n`);
}

/** Packs the release into a folder and prints the file's path and size as JSON. */
async function pack(destination: string): Promise<void> {
  await build();
  if (TYPES_NEED.every((name) => existsSync(join(ROOT, 'node_modules', name)))) {
    const { buildTypes } = await import('./types/build-types.ts');
    buildTypes(ROOT);
  } else {
    // Removes types that an earlier build may have left.
    rmSync(join(ROOT, 'types'), { recursive: true, force: true });
    process.stderr.write(
      'The package does not contain types for plugin authors: the TypeScript compiler is not installed.\n',
    );
  }
  const { packRelease } = await import('./pack/pack-release.ts');
  process.stdout.write(`${JSON.stringify(packRelease(ROOT, destination))}\n`);
}

/**
 * `npm pack` would pack the package.json of the sources, which does not work in an installed
 * package.
 */
function refusePack(): void {
  process.stderr.write('To pack a release, run "npm run release:pack" instead of "npm pack".\n');
  process.exitCode = 1;
}
