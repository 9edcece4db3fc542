import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Dialect } from '@parley/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFormatLayer, readChannelFormats } from './layout.ts';
import { createContext, createView, OWNER } from './testing/example-turn.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parley-formats-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('the folder of format notes', () => {
  it('[M07] has one file per dialect, and no note if that file is missing or blank', async () => {
    await writeFile(join(folder, 'telegram.md'), 'Be brief.\n');
    await writeFile(join(folder, 'plain.md'), '\n');
    expect(await readChannelFormats(folder)).toEqual({ telegram: 'Be brief.' });
    expect(await readChannelFormats(join(folder, 'nowhere'))).toEqual({});
  });

  it('[M07] reports an unreadable file with its path and a fix', async () => {
    await mkdir(join(folder, 'html.md'));
    await expect(readChannelFormats(folder)).rejects.toMatchObject({
      code: 'format-unreadable',
      message: expect.stringContaining('html.md'),
    });
  });
});

const NOTES = await readChannelFormats(
  join(import.meta.dirname, '../../../config/channel-formats'),
);
const target = { dialect: 'telegram', maxLength: 4_096, unit: 'utf16' } as const;

describe('the format note', () => {
  it.each(Dialect.options)('[M07] is short for %s', async (dialect) => {
    const output = await createFormatLayer(NOTES).render(
      createContext({ target: { ...target, dialect } }),
      {},
    );
    expect(output).toMatchObject({ text: expect.stringMatching(/^## Formatting\n.{50,400}$/) });
  });

  it('[M07] can be replaced by a file in the workspace', async () => {
    const view = createView(OWNER, { 'formats/telegram.md': 'Only haiku.' });
    expect(
      await createFormatLayer(NOTES).render(createContext({ target, view }), {}),
    ).toMatchObject({
      text: '## Formatting\nOnly haiku.',
      source: 'formats/telegram.md',
    });
  });

  it('[P02] is absent when the answer is not shown in a chat', async () => {
    expect(await createFormatLayer(NOTES).render(createContext(), {})).toHaveProperty('absent');
  });
});
