import { join } from 'node:path';
import { buildBundle, removeOthers } from './build.ts';

const ROOT = join(import.meta.dirname, '../../../..');

// `npm run build`, and part of `npm ci`. Without a bundle the sources run, so a failure fails no install.
// With `--pack`, for `npm pack`, the bundle is all there is: a failure ends that, and `dist` has it alone.
try {
  const done = await buildBundle(ROOT);
  if (process.argv.includes('--pack')) removeOthers(ROOT);
  const text = done === 'built' ? 'The bundle is built' : 'The bundle is of these sources already';
  process.stderr.write(`${text}: dist/\n`);
} catch (error) {
  if (process.argv.includes('--pack')) throw error;
  process.stderr.write(
    `No bundle could be built, so the sources run, which start slower: ${error}\n`,
  );
}
