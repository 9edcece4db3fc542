import { parseDiscordMarkdown } from '@parley/simulators/discord';
import { renderDiscord } from '@parley/simulators/draw';
import type { GalleryScreen } from './bubble.ts';

/** Discord on a phone. Text with effects beyond its display counts as refused. */
export const DISCORD: GalleryScreen = {
  id: 'discord',
  name: 'Discord',
  target: { dialect: 'discord', maxLength: 2000, unit: 'utf16' },
  draw: ({ text, plain }) => {
    const { tree, violations } = parseDiscordMarkdown(text);
    // Markup that is also visible in the plain text, such as a broken table, was intended.
    const first = violations.find(({ kind, where }) => kind !== 'table' || !plain.includes(where));
    if (first !== undefined) throw new Error(`${first.kind}: ${first.where}`);
    return { html: renderDiscord(tree), length: text.length };
  },
};
