import { join } from 'node:path';
import { Dialect } from '@parley/contracts';
import { describe, expect, it } from 'vitest';
import { formatLayer, readChannelFormats } from './channel-formats.ts';
import { contextOf, OWNER, viewOf } from './testing/example-turn.ts';

const NOTES = await readChannelFormats(
  join(import.meta.dirname, '../../../config/channel-formats'),
);
const target = { dialect: 'telegram', maxLength: 4_096, unit: 'utf16' } as const;

describe('the format note', () => {
  it.each(Dialect.options)('[M07] is short for %s', async (dialect) => {
    const output = await formatLayer(NOTES).render(
      contextOf({ target: { ...target, dialect } }),
      {},
    );
    expect(output).toMatchObject({ text: expect.stringMatching(/^## Formatting\n.{50,400}$/) });
  });

  it('[M07] is replaced by a file of the workspace', async () => {
    const view = viewOf(OWNER, { 'formats/telegram.md': 'Only haiku.' });
    expect(await formatLayer(NOTES).render(contextOf({ target, view }), {})).toMatchObject({
      text: '## Formatting\nOnly haiku.',
      source: 'formats/telegram.md',
    });
  });

  it('[P02] is absent where no chat shows the answer', async () => {
    expect(await formatLayer(NOTES).render(contextOf(), {})).toHaveProperty('absent');
  });
});
