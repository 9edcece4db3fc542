import type { Logger } from '@parley/contracts';
import {
  imageTypeOf,
  type ReadDocument,
  type TranscriptionSettings,
  transcribe,
} from '@parley/media';
import type { ModelImage } from '@parley/models';
import type { AttachmentRepository, StoredAttachment } from '@parley/store';

/** What reading attachments needs besides the database. */
export interface MediaDeps {
  readonly readDocument: ReadDocument;
  /** The speech service; undefined where none is configured. */
  readonly transcription: TranscriptionSettings | undefined;
  readonly fetch: typeof globalThis.fetch;
  /** Of the documents of one turn together, what the model is shown. */
  readonly characters: number;
}

/**
 * What an attachment turned out to be. `why` is for everybody and follows "because"; `hint` is what an
 * owner can do about it.
 */
export type ReadAttachment =
  | { readonly kind: 'image'; readonly image: ModelImage }
  | { readonly kind: 'speech'; readonly text: string }
  | { readonly kind: 'document'; readonly text: string }
  | { readonly kind: 'unread'; readonly why: string; readonly hint?: string };

/** What one attachment is read with. */
export interface ReadingDeps extends MediaDeps {
  readonly attachments: Pick<AttachmentRepository, 'bytes' | 'keepText'>;
  readonly clock: () => number;
  readonly log: Logger;
}

/** Reads one attachment. `charactersLeft`: what this turn has left for documents. */
export async function readAttachment(
  deps: ReadingDeps,
  stored: StoredAttachment,
  charactersLeft: number,
  signal: AbortSignal,
): Promise<ReadAttachment> {
  if (stored.text !== null) return { kind: 'speech', text: stored.text };
  if (stored.state === 'failed') return unread(stored.reason ?? 'it could not be fetched');
  if (stored.state === 'pending') return unread('it took too long to arrive');
  if (stored.kind === 'video') return unread('I cannot watch videos');
  const isSpeech = stored.kind === 'voice' || stored.kind === 'audio';
  if (isSpeech && deps.transcription === undefined) return CANNOT_LISTEN;
  const kept = await deps.attachments.bytes(stored);
  if (kept === null) return unread('it is no longer kept');
  // A copy of its own: some databases hand out a piece of a larger buffer.
  const bytes = new Uint8Array(kept);
  if (isSpeech) return listen(deps, stored, bytes, signal);
  const mimeType = imageTypeOf(bytes);
  if (mimeType !== null) return { kind: 'image', image: { mimeType, bytes } };
  if (stored.kind !== 'document') return unread('it is no JPEG, PNG, GIF or WebP picture');
  if (charactersLeft <= 0) return unread('the documents before it were as long as I can take');
  const read = await deps.readDocument(bytes, { characters: charactersLeft }, signal);
  return read.kind === 'text' ? { kind: 'document', text: read.text } : unread(read.reason);
}

const CANNOT_LISTEN: ReadAttachment = {
  kind: 'unread',
  why: 'I cannot listen to recordings here',
  hint: 'To change that, name a speech service in `media.transcription` of the settings.',
};

async function listen(
  { transcription, fetch, attachments, clock, log }: ReadingDeps,
  stored: StoredAttachment,
  bytes: Uint8Array<ArrayBuffer>,
  signal: AbortSignal,
): Promise<ReadAttachment> {
  if (transcription === undefined) return CANNOT_LISTEN;
  const heard = await transcribe(bytes, transcription, { fetch, signal });
  if (heard.kind === 'refused') {
    // The owner may not be the one who sent it, and mends it all the same.
    if (!signal.aborted) log.warn({ reason: heard.detail }, 'recording not transcribed');
    return { ...unread(heard.reason), hint: `${heard.detail}.` };
  }
  if (heard.text === '') return unread('nothing is said in it');
  await attachments.keepText(stored, heard.text, clock());
  return { kind: 'speech', text: heard.text };
}

function unread(why: string): ReadAttachment & { readonly kind: 'unread' } {
  return { kind: 'unread', why };
}
