import { createDocumentReader, type TranscriptionSettings } from '@parley/tools/documents';
import type { MediaDeps } from './read-attachment.ts';

/** What the settings say of reading what people send. */
export interface MediaSettings {
  readonly maxCharacters: number;
  readonly transcription?: TranscriptionSettings | undefined;
}

/** What turns read attachments with, by the settings. Loads nothing until a document comes. */
export function openMedia({ maxCharacters, transcription }: MediaSettings): MediaDeps {
  return {
    readDocument: createDocumentReader(),
    transcription,
    fetch: globalThis.fetch,
    characters: maxCharacters,
  };
}
