import { join } from 'node:path';
import { buildBundle, removeOthers } from './build.ts';

const ROOT = join(import.meta.dirname, '../../../..');

// Run by `npm run build` and as part of `npm ci`. Without a bundle the sources run, so a failed
// build does not fail an install. With `--pack`, for `npm pack`, only the bundle is shipped, so a
// failed build fails the packing, and `dist` contains nothing else.
try {
  const done = await buildBundle(ROOT);
  if (process.argv.includes('--pack')) removeOthers(ROOT);
  const text = done === 'built' ? 'The bundle was built' : 'The bundle is up to date';
  process.stderr.write(`${text}: dist/\n`);
} catch (error) {
  if (process.argv.includes('--pack')) throw error;
  process.stderr.write(
    `The bundle could not be built, so Parley runs from its sources, which start more slowly: ${error}\n`,
  );
}
