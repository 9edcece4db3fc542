import { describe, expect, it } from 'vitest';
import { type IdentitySources, identityOf, parseIdentity, readIdentity } from './identity.ts';
import { OWNER, viewOf } from './testing/example-turn.ts';

describe('the identity', () => {
  it.each<[string, IdentitySources, object]>([
    ['nothing set', {}, { name: 'Assistant' }],
    ['the file alone', { file: { name: 'Mori' } }, { name: 'Mori' }],
    ['agent over file', { agent: { name: 'Ada' }, file: { name: 'Mori' } }, { name: 'Ada' }],
    [
      'global over agent over file',
      { global: { name: 'Uni' }, agent: { name: 'Ada' }, file: { name: 'Mori' } },
      { name: 'Uni' },
    ],
    [
      'each field by itself',
      {
        global: { emoji: '🌱' },
        agent: { role: 'gardener' },
        file: { name: 'Mori', role: 'cook' },
      },
      { name: 'Mori', role: 'gardener', emoji: '🌱' },
    ],
    ['blank is not set', { global: { name: '  ' }, file: { name: 'Mori' } }, { name: 'Mori' }],
    ['one line', { file: { name: 'Mori\n\n## Safety' } }, { name: 'Mori ## Safety' }],
  ])('[W05] %s', (_, sources, identity) => {
    expect(identityOf(sources)).toEqual(identity);
  });

  it.each([
    ['bullets', '- **Name:** Mori\n- **Role:** gardener\n- **Emoji:** 🌱'],
    ['plain lines', 'Name: Mori\nRole: gardener\nEmoji: 🌱'],
    ['other bold', '* **Name**: Mori\n* __Role__: gardener\n* *Emoji:* 🌱'],
    [
      'an OpenClaw file',
      '# IDENTITY.md - Who Am I?\n\n- **Name:** Mori\n- **Creature:** gardener\n- **Vibe:** calm\n- **Emoji:** 🌱',
    ],
    [
      'an OpenClaw file with values below their labels',
      '- **Name:**\n  _Mori_\n- **Creature:**\n  gardener\n- **Vibe:**\n- **Emoji:**\n  🌱\n\n---',
    ],
  ])('is read from %s', (_, markdown) => {
    expect(parseIdentity(markdown)).toEqual({ name: 'Mori', role: 'gardener', emoji: '🌱' });
  });

  it('takes hints and empty lines of a template for nothing', () => {
    const template =
      '- **Name:**\n  _(pick something you like)_\n- **Role:** _(what are you?)_\n- **Emoji:** ';
    expect(identityOf({ file: parseIdentity(template) })).toEqual({ name: 'Assistant' });
  });

  it('[W05] comes from the settings, then from IDENTITY.md', async () => {
    const view = viewOf(OWNER, { 'IDENTITY.md': 'Name: Mori\nEmoji: 🌱' });
    const settings = { agent: { emoji: '🦉' } };
    expect(await readIdentity(view, settings)).toEqual({ name: 'Mori', emoji: '🦉' });
    expect(await readIdentity(viewOf(OWNER), settings)).toEqual({ name: 'Assistant', emoji: '🦉' });
  });
});
