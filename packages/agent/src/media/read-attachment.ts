import type { Logger } from '@parley/core';
import type { ModelImage } from '@parley/models';
import type { Store, StoredAttachment } from '@parley/store';
import {
  createDocumentReader,
  type DocumentText,
  imageTypeOf,
  pixelsOf,
  type ReadDocument,
  type TranscriptionSettings,
  transcribe,
} from '@parley/tools/documents';

export interface MediaDeps {
  readonly readDocument: ReadDocument;
  readonly transcription: TranscriptionSettings | undefined;
  readonly fetch: typeof globalThis.fetch;
  /** What the model is shown of all documents of one turn together. */
  readonly characters: number;
}

/**
 * What an attachment turned out to be. `why` is for everyone and follows "because"; `hint` is what an
 * owner can do about it.
 */
export type ReadAttachment =
  | { readonly kind: 'image'; readonly image: ModelImage }
  | { readonly kind: 'speech'; readonly text: string }
  | ({ readonly kind: 'document' } & DocumentPart)
  /** It can be read in another step or turn. */
  | { readonly kind: 'unopened'; readonly why: string }
  | { readonly kind: 'unread'; readonly why: string; readonly hint?: string };

/** A part of a document's text, as `DocumentText` says. */
export type DocumentPart = Omit<Extract<DocumentText, { kind: 'text' }>, 'kind'>;

/** `sender`: a key of the person, among whom documents are read fairly. */
export interface SentAttachment {
  readonly stored: StoredAttachment;
  readonly sender: string;
}

export interface TurnMediaDeps {
  readonly store: Pick<Store, 'attachments'>;
  readonly media: MediaDeps;
  readonly clock: () => number;
  readonly log: Logger;
}

/** Reads one attachment of a sender. `charactersLeft`: what this turn has left for documents. */
export async function readAttachment(
  deps: TurnMediaDeps,
  { stored, sender }: SentAttachment,
  charactersLeft: number,
  signal: AbortSignal,
): Promise<ReadAttachment> {
  if (stored.text !== null) return { kind: 'speech', text: stored.text };
  if (stored.state === 'failed') return unread(stored.reason ?? 'it could not be fetched');
  if (stored.state === 'pending') return unread('it took too long to arrive');
  if (stored.kind === 'video') return unread('I cannot watch videos');
  const isSpeech = stored.kind === 'voice' || stored.kind === 'audio';
  if (isSpeech && deps.media.transcription === undefined) return CANNOT_LISTEN;
  if (isSpeech) return listen(deps, stored, signal);
  const picture = await lookAt(deps, stored);
  if (picture !== null) return picture;
  if (charactersLeft <= 0) {
    return { kind: 'unopened', why: 'the documents before it are as long as one turn can show' };
  }
  const load = () => deps.store.attachments.bytes(stored);
  const read = await deps.media.readDocument({ sender, characters: charactersLeft, load }, signal);
  return read.kind === 'text' ? { ...read, kind: 'document' } : unread(read.reason);
}

/**
 * A picture, or what is none and was not sent as a document; null for a document. Pictures are never
 * decoded here. The bytes of a document are dropped again: it may have to wait for its turn.
 */
async function lookAt(
  { store }: TurnMediaDeps,
  stored: StoredAttachment,
): Promise<ReadAttachment | null> {
  const bytes = await store.attachments.bytes(stored);
  if (bytes === null) return GONE;
  const mimeType = imageTypeOf(bytes);
  if (mimeType === null) {
    return stored.kind === 'document' ? null : unread('it is no JPEG, PNG, GIF or WebP picture');
  }
  if ((pixelsOf(bytes) ?? 0) > MOST_PIXELS) {
    return unread(`it has more than ${MOST_PIXELS / 1_000_000} million pixels`);
  }
  // A copy of its own: some databases return a piece of a larger buffer.
  return { kind: 'image', image: { mimeType, bytes: new Uint8Array(bytes) } };
}

const CANNOT_LISTEN: ReadAttachment = {
  kind: 'unread',
  why: 'I cannot listen to recordings here',
  hint: 'To change that, name a speech service in `media.transcription` of the settings.',
};

async function listen(
  { store: { attachments }, media: { transcription, fetch }, clock, log }: TurnMediaDeps,
  stored: StoredAttachment,
  signal: AbortSignal,
): Promise<ReadAttachment> {
  if (transcription === undefined) return CANNOT_LISTEN;
  const bytes = await attachments.bytes(stored);
  if (bytes === null) return GONE;
  const heard = await transcribe(new Uint8Array(bytes), transcription, { fetch, signal });
  if (heard.kind === 'refused') {
    // Only the owner can fix it.
    if (!signal.aborted) log.warn({ reason: heard.detail }, 'recording not transcribed');
    return { ...unread(heard.reason), hint: `${heard.detail}.` };
  }
  if (heard.text === '') return unread('nothing is said in it');
  await attachments.keepText(stored, heard.text, clock());
  return { kind: 'speech', text: heard.text };
}

const GONE = unread('it is no longer kept');
/** Models decode what they are given, and a small file can be a huge picture. */
const MOST_PIXELS = 50_000_000;

function unread(why: string): ReadAttachment & { readonly kind: 'unread' } {
  return { kind: 'unread', why };
}

export interface MediaSettings {
  readonly maxCharacters: number;
  readonly transcription?: TranscriptionSettings | undefined;
}

/** Loads nothing until a document comes. */
export function openMedia({ maxCharacters, transcription }: MediaSettings): MediaDeps {
  return {
    readDocument: createDocumentReader(),
    transcription,
    fetch: globalThis.fetch,
    characters: maxCharacters,
  };
}
