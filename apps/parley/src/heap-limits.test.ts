import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../../..');

it.each([
  ['npm start', 'package.json', /"start": "node --max-semi-space-size=4 apps/],
  [
    'the program itself',
    'apps/parley/bin/parley.js',
    /^#!\/usr\/bin\/env -S node --max-semi-space-size=4\n/,
  ],
  ['an old Node', 'apps/parley/bin/parley.js', /flags = \['--max-semi-space-size=4'/],
  ['the image', 'Dockerfile', /^ENTRYPOINT \["node", "--max-semi-space-size=4", /m],
])('%s starts Parley with a small space for young objects', (_way, file, flag) => {
  expect(readFileSync(join(ROOT, file), 'utf8')).toMatch(flag);
});
