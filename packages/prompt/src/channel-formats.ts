import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Dialect, reasonOf } from '@parley/contracts';
import { PromptError } from './prompt-error.ts';

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
