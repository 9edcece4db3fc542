import { existsSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { buildBundle } from './build.ts';

const ROOT = join(import.meta.dirname, '../../../..');
/** The packages that make the types. An image is built without them. */
const TYPES_NEED = ['typescript', 'oxc-parser'];
const [task, folder = process.env.INIT_CWD ?? '.'] = process.argv.slice(2);

// Run by `npm run build` and as part of `npm ci`. Without a bundle the sources run, so a failed
// build does not fail an install. `npm run release:pack` packs the release, which contains only the
// bundle, so a failed build fails the packing.
if (task === '--pack') await pack(resolve(folder));
else if (task === '--types') (await import('./types/build-types.ts')).buildTypes(ROOT);
else if (task === '--refuse-pack') refusePack();
else {
  try {
    await build();
  } catch (error) {
    process.stderr.write(
      `The bundle could not be built, so Parley runs from its sources, which start more slowly: ${error}\n`,
    );
  }
}

async function build(): Promise<void> {
  const done = await buildBundle(ROOT);
  const text = done === 'built' ? 'The bundle was built' : 'The bundle is up to date';
  process.stderr.write(`${text}: dist/\n`);
}

/** Packs the release into a folder and prints the path of the file and its size, as JSON. */
async function pack(destination: string): Promise<void> {
  await build();
  if (TYPES_NEED.every((name) => existsSync(join(ROOT, 'node_modules', name)))) {
    const { buildTypes } = await import('./types/build-types.ts');
    buildTypes(ROOT);
  } else {
    // Those of an earlier build may be others.
    rmSync(join(ROOT, 'types'), { recursive: true, force: true });
    process.stderr.write(
      'The package has no types for authors of plugins: the TypeScript compiler is not installed.\n',
    );
  }
  const { packRelease } = await import('./pack/pack-release.ts');
  process.stdout.write(`${JSON.stringify(packRelease(ROOT, destination))}\n`);
}

/** `npm pack` would pack the package.json of the sources, which an installed package cannot use. */
function refusePack(): void {
  process.stderr.write('The release is packed by "npm run release:pack", not by "npm pack".\n');
  process.exitCode = 1;
}
