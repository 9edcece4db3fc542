import type { Dialect } from '@parley/contracts';
import { absent, type Layer } from '../layer.ts';

/** The renderer enforces what a platform allows (M02); these notes only help it to look good (M07). */
const NOTES: Readonly<Record<Dialect, string>> = {
  telegram:
    'Write ordinary Markdown; it is shown in Telegram. Bold, italics, links, quotes, short lists and code blocks look well. Headings become bold lines and wide tables are hard to read on a telephone: prefer lists.',
  discord:
    'Write ordinary Markdown; it is shown in Discord. Bold, italics, headings, links, quotes, lists and code blocks look well. Wide tables are hard to read on a telephone: prefer lists.',
  whatsapp:
    'Write ordinary Markdown; it is shown in WhatsApp on a telephone. Short paragraphs, bold, italics, short lists and quotes look well. Headings become bold lines, link texts show their address, and tables are hard to read: prefer lists.',
  plain:
    'Write ordinary Markdown; it is shown as plain text in a fixed-width terminal. Short paragraphs, lists and code blocks look well; pictures and deep nesting do not.',
  html: 'Write ordinary Markdown; it is shown on a web page. Headings, tables, lists, links and code blocks with a language all look well. Never write HTML.',
};

/** How to write for this chat's screen; `formats/<dialect>.md` in the workspace takes its place. */
export const formatLayer: Layer = {
  id: 'format',
  volatility: 'session',
  placement: 'system',
  async render({ target, view }, limits) {
    if (target === undefined) return absent('nobody reads this answer in a chat');
    const own = await view.read(`formats/${target.dialect}.md`, limits.characters);
    if (own.kind === 'file') return { ...own, text: `## Formatting\n${own.text}` };
    const text = `## Formatting\n${NOTES[target.dialect]}`;
    return { text, source: `format ${target.dialect}`, audience: { kind: 'everyone' } };
  },
};
