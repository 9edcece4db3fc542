import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { listOwnerIdentifiers, splitOwnerText } from './owner-sections.ts';

const USER = `# USER.md
- **Name:** Mira Okonkwo (she/her)
- **What to call them:** Miri
- Timezone: Africa/Lagos (WAT)
- Languages: English, Igbo
- Telegram: @miri_o
- 称呼：小米
`;
const MARKS = listOwnerIdentifiers(USER);

describe('text that is about the owner', () => {
  it('[W03] is recognized by names and distinctive values from USER.md', () => {
    expect(MARKS).toEqual([
      ...['Mira Okonkwo', 'Mira', 'Okonkwo', 'Miri', 'Africa/Lagos', '@miri_o', '小米'],
    ]);
    expect(listOwnerIdentifiers('name: mira\n')).toEqual(['mira', 'Mira']);
    expect(listOwnerIdentifiers('# - Name:\n# - Timezone:\n')).toEqual([]);
  });

  it.each([
    ['a section by its heading', '## About the user\nAllergic to nuts.\n\n### Work\nA bakery.'],
    ['a section in bold', '**Your human**\n- Allergic to nuts'],
    ['a section with a sign', '## 👤 My human\nAllergic to nuts.'],
    ['a section named after them', '## Working with Mira\nShort answers before noon.'],
    ['a German section', '## Über den Besitzer\nMag Tee.'],
    ['a Chinese section', '## 关于用户\n喜欢喝茶。'],
    ['a label', 'Name of owner: M. O.'],
    ['a bold label', '- **Owner’s city:** Lagos'],
    ['an item with what is below it', '- Owner: see below\n  - likes tea\n\n  and cake'],
    ['a paragraph with the name', 'Be quick when\nMiri is at the market.'],
    ['what goes on about them', 'Mira bakes bread.\nShe is up at four.'],
    ['a name without spaces around it', '早上对小米要温柔。'],
    ['a fact about your human', 'Your human lives above the bakery.'],
    ['an e-mail address', '- Write to m.o@bakery.example'],
    ['a phone number', 'Call +234 803 555 01 23 in an emergency.'],
    ['a host', '```sh\nls\nssh oven@192.168.7.20\n```'],
    ['a service at home', '- Oven: http://localhost:8090'],
    ['a time zone', 'All times are Africa/Lagos.'],
  ])('[W03] %s', (_, text) => {
    const around = (inside: string) =>
      `# AGENTS.md\n\nBe kind.\n\n${inside}\n\n# Rules\n\n- Ask first.`;
    expect(splitOwnerText(around(text), MARKS)).toEqual({
      everyone: around('').replace(/\n{3,}/, '\n\n'),
      owners: text,
    });
  });

  it.each([
    'If in MAIN SESSION (direct chat with your human), also read MEMORY.md.',
    'You have access to your human’s stuff. That does not mean you share it.',
    '## Memory\nDaily notes: memory/YYYY-MM-DD.md',
    '## Human in the loop\nAsk before you send.',
    '- Say it in the user’s language.',
    'name: Magi\nrole: Personal AI Assistant',
    'Admiral Miriam is a fictional captain.',
  ])('[W03] does not include: %s', (text) => {
    expect(splitOwnerText(text, MARKS)).toEqual({ everyone: text, owners: '' });
  });

  it('[W03] includes single lines when each is a separate rule', () => {
    const text = 'Keep secrets.\nNever wake Mira before noon.\nAsk when in doubt.';
    expect(splitOwnerText(text, MARKS)).toEqual({
      everyone: 'Keep secrets.\nAsk when in doubt.',
      owners: 'Never wake Mira before noon.',
    });
  });

  it('[W03] does not include anything from the templates that Parley ships', () => {
    for (const name of ['AGENTS.md', 'SOUL.md', 'IDENTITY.md']) {
      const path = resolve(import.meta.dirname, '../../../config/workspace', name);
      expect(splitOwnerText(readFileSync(path, 'utf8'), MARKS).owners).toBe('');
    }
  });

  it('[W03] may consist only of a title that contains a name', () => {
    const text = '# The assistant of Mira Okonkwo\n\nBe kind.';
    const parts = { everyone: 'Be kind.', owners: '# The assistant of Mira Okonkwo' };
    expect(splitOwnerText(text, MARKS)).toEqual(parts);
  });
});
