import { parseDiscordMarkdown } from '@parley/simulators/discord';
import { drawDiscord } from '@parley/simulators/draw';
import type { Screen } from './bubble.ts';

/** Discord on a phone. What would do more than show text counts as refused. */
export const DISCORD: Screen = {
  id: 'discord',
  name: 'Discord',
  target: { dialect: 'discord', maxLength: 2000, unit: 'utf16' },
  draw: ({ text, plain }) => {
    const { tree, violations } = parseDiscordMarkdown(text);
    // What people read in the plain text too, such as a broken table, was meant as it is.
    const first = violations.find(({ kind, where }) => kind !== 'table' || !plain.includes(where));
    if (first !== undefined) throw new Error(`${first.kind}: ${first.where}`);
    return { html: drawDiscord(tree), length: text.length };
  },
};
