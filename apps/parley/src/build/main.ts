import { join } from 'node:path';
import { buildBundle } from './build.ts';

// `npm run build`, and part of `npm ci`. Without a bundle the sources run, so a failure fails no install.
try {
  const done = await buildBundle(join(import.meta.dirname, '../../../..'));
  const text = done === 'built' ? 'The bundle is built' : 'The bundle is of these sources already';
  process.stdout.write(`${text}: dist/\n`);
} catch (error) {
  process.stderr.write(
    `No bundle could be built, so the sources run, which start slower: ${error}\n`,
  );
}
