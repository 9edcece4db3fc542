import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Clock, silentLogger } from '@parley/core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FileCache } from './file-cache.ts';

const NAME = { name: 'SOUL.md', segments: ['SOUL.md'] };
const anHourLater: Clock = () => Date.now() + 3_600_000;

let folder: string;
const cache = (clock: Clock): FileCache => new FileCache({ folder, clock, log: silentLogger });

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parley-cache-'));
  await writeFile(join(folder, 'SOUL.md'), 'one');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe('the workspace file cache', () => {
  it('reads and parses a file once while it stays the same', async () => {
    const files = cache(anHourLater);
    expect(await files.get(NAME)).toBe(await files.get(NAME));
  });

  it('reads a file again after a change', async () => {
    const files = cache(anHourLater);
    expect(await files.get(NAME)).toMatchObject({ text: 'one' });
    await writeFile(join(folder, 'SOUL.md'), 'a second');
    expect(await files.get(NAME)).toMatchObject({ text: 'a second' });
  });

  it('does not trust the timestamp of a file that has just changed', async () => {
    const files = cache(() => 0); // The cache's clock is at 0, so the file counts as just changed.
    expect(await files.get(NAME)).not.toBe(await files.get(NAME));
  });
});
