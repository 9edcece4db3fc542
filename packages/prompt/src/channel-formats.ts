import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Dialect, type RenderTarget, reasonOf } from '@parley/core';
import { absent, type Layer, PromptError } from './layer.ts';

/** How to write for each dialect, in a few sentences for the model (M07). */
export type ChannelFormats = Readonly<Partial<Record<Dialect, string>>>;

/**
 * Reads `<dialect>.md` of a folder, once, at the start. A dialect without a file has no note. Throws
 * PromptError `format-unreadable`.
 */
export async function readChannelFormats(folder: string): Promise<ChannelFormats> {
  const notes = await Promise.all(
    Dialect.options.map(async (dialect) => [dialect, await readNote(folder, dialect)] as const),
  );
  return Object.fromEntries(notes.filter(([, note]) => note !== ''));
}

async function readNote(folder: string, dialect: Dialect): Promise<string> {
  const file = join(folder, `${dialect}.md`);
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (error) {
    if (isMissing(error)) return '';
    throw new PromptError(
      'format-unreadable',
      `The format note ${file} cannot be read (${reasonOf(error)}). Make it a readable text file, or remove it.`,
    );
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}

/** For a dialect without a note. */
const PLAIN_NOTE = 'Write ordinary Markdown; Parley turns it into what this chat can show.';

/** Longer than any answer a model writes, in characters. */
const LONGEST_ANSWER = 50_000;

/**
 * How to write for this chat's screen, from `config/channel-formats`; `formats/<dialect>.md` in the
 * workspace takes its place (M07). The renderer enforces what a platform allows (M02): these notes
 * only help it to look good.
 */
export function formatLayer(notes: ChannelFormats): Layer {
  return {
    id: 'format',
    volatility: 'session',
    placement: 'system',
    reads: ['formats/'],
    async render({ target, view }, { heading = '## Formatting', characters }) {
      if (target === undefined) return absent('this answer is not shown in a chat');
      const { dialect } = target;
      const own = await view.read(`formats/${dialect}.md`, characters);
      if (own.kind === 'file') {
        const { source, audience, cut } = own;
        return { text: `${heading}\n${own.text}`, source, audience, cut };
      }
      const text = `${heading}\n${notes[dialect] ?? PLAIN_NOTE}${lengthNote(target)}`;
      return { text, source: `format ${dialect}`, audience: { kind: 'everyone' } };
    },
  };
}

/** From the adapter's own declaration; a length that no answer reaches is left out. */
function lengthNote({ maxLength, unit }: RenderTarget): string {
  if (maxLength > LONGEST_ANSWER) return '';
  const what = unit === 'byte' ? 'bytes' : 'characters';
  return ` One message holds ${maxLength.toLocaleString('en-US')} ${what}; what is longer is sent as several.`;
}
