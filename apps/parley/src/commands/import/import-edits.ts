import { decodeText } from '@parley/core';
import {
  type AudienceSplit,
  addOwnerMarkToCopy,
  type FolderSurvey,
  listOwnerIdentifiers,
  readFileInside,
  type SurveyedEntry,
  splitOwnerFile,
} from '@parley/workspace';
import { canTakeNotes, isMarkedInCopy } from './import-plan.ts';

/** The file that receives notes about the owner when USER.md cannot be extended. */
export const OWNERS_NOTES = 'owner-notes.md';

/**
 * Prompt files that are used in everyone's turns. Text about the owner is removed from their
 * copies.
 */
const SPLIT = ['agents.md', 'soul.md', 'identity.md'];

/** Edits to the copied files that keep text about the owner private (W03). */
export interface ImportEdits {
  /** Names of the files that other people can read, with the text about the owner removed. */
  readonly split: ReadonlySet<string>;
  /** Returns the content for the copy of a file. */
  readonly edit: (name: string, bytes: Uint8Array) => Uint8Array;
  /** The text that was removed, as a separate file; null if none was removed. */
  readonly notes: Uint8Array | null;
}

/** Reads the prompt files of a surveyed folder. Throws file system errors. */
export async function createImportEdits({ folder, entries }: FolderSurvey): Promise<ImportEdits> {
  const read = async (name: string): Promise<string> =>
    decodeText(await readFileInside(folder, name.split('/'))).text;
  const named = (wanted: string): SurveyedEntry | undefined =>
    entries.find(
      ({ name, content }) => name.toLowerCase() === wanted && content.kind === 'markdown',
    );
  const user = named('user.md');
  const marks = user === undefined ? [] : listOwnerIdentifiers(await read(user.name));
  const parts = new Map<string, AudienceSplit>();
  for (const { name } of SPLIT.map(named).filter((entry) => entry !== undefined)) {
    const split = splitOwnerFile(await read(name), marks);
    if (split.owners !== '') parts.set(name, split);
  }
  const taken = [...parts].map(([name, { owners }]) => `## From ${name}\n\n${owners}\n`).join('\n');
  return {
    split: new Set(parts.keys()),
    notes: taken === '' ? null : addOwnerMarkToCopy(Buffer.from(taken)),
    edit(name, bytes) {
      const split = parts.get(name);
      if (split !== undefined) return Buffer.from(split.everyone);
      if (!isMarkedInCopy(name)) return bytes;
      if (name !== user?.name || !canTakeNotes(user) || taken === '')
        return addOwnerMarkToCopy(bytes);
      return addOwnerMarkToCopy(Buffer.from(`${decodeText(bytes).text.trimEnd()}\n\n${taken}`));
    },
  };
}
