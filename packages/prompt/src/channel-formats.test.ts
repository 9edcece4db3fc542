import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readChannelFormats } from './channel-formats.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parley-formats-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('the format notes of a folder', () => {
  it('[M07] are one file for each dialect; one that is missing or blank is no note', async () => {
    await writeFile(join(folder, 'telegram.md'), 'Be brief.\n');
    await writeFile(join(folder, 'plain.md'), '\n');
    expect(await readChannelFormats(folder)).toEqual({ telegram: 'Be brief.' });
    expect(await readChannelFormats(join(folder, 'nowhere'))).toEqual({});
  });

  it('[M07] that cannot be read are told with the file and what to do', async () => {
    await mkdir(join(folder, 'html.md'));
    await expect(readChannelFormats(folder)).rejects.toMatchObject({
      code: 'format-unreadable',
      message: expect.stringContaining('html.md'),
    });
  });
});
