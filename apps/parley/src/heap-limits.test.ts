import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../../..');

it.each([
  // BusyBox's `env` does not know the -S of the program's first line, so npm calls node itself.
  ['npm start', 'package.json', /"start": "node --max-semi-space-size=8 \S+parley\.js start"/],
  [
    'the program itself',
    'apps/parley/bin/parley.js',
    /^#!\/usr\/bin\/env -S MALLOC_ARENA_MAX=2 node --max-semi-space-size=8\n/,
  ],
  ['the link that npm makes', 'apps/parley/package.json', /"parley": "bin\/parley.js"/],
  [
    'an old Node',
    'apps/parley/bin/parley.js',
    /flags = \['--max-semi-space-size=8'[\s\S]*MALLOC_ARENA_MAX: '2'/,
  ],
  [
    'the image',
    'Dockerfile',
    /^ENV MALLOC_ARENA_MAX=2\n[\s\S]*^ENTRYPOINT \["node", "--max-semi-space-size=8", /m,
  ],
])(
  '%s starts Parley with a small space for young objects, and where it can with few arenas of malloc',
  (_way, file, flag) => {
    expect(readFileSync(join(ROOT, file), 'utf8')).toMatch(flag);
  },
);
