import type { Logger } from '@parley/core';
import type { ModelImage } from '@parley/models';
import type { Store, StoredAttachment } from '@parley/store';
import {
  createDocumentReader,
  createPictureScaler,
  createReaderQueue,
  type DocumentText,
  detectPictureFormat,
  type ImageType,
  isVideo,
  isWorthScaling,
  type PictureFormat,
  type ReadDocument,
  type ScalePicture,
  type SpeechSettings,
  synthesizeSpeech,
  type TranscriptionSettings,
  transcribe,
} from '@parley/tools/documents';
import type { TurnSpeechSettings } from './voice-answer.ts';

export interface MediaDeps {
  readonly readDocument: ReadDocument;
  readonly scalePicture: ScalePicture;
  /** The maximum side length of a picture sent to the model, in pixels. */
  readonly maxImageDimension: number;
  readonly transcription: TranscriptionSettings | undefined;
  readonly fetch: typeof globalThis.fetch;
  /** If it is absent, answers are text only. */
  readonly speech?: TurnSpeechSettings | undefined;
  /** The total limit for all documents in one turn, in characters. */
  readonly characters: number;
}

/**
 * The result of reading an attachment. `why` is shown to everyone and follows "because". `hint`
 * tells an owner how to fix it.
 */
export type AttachmentContent =
  | { readonly kind: 'image'; readonly image: ModelImage }
  | { readonly kind: 'speech'; readonly text: string }
  | ({ readonly kind: 'document' } & DocumentPart)
  /** A file that has not been read yet and can be read in another step or turn. */
  | { readonly kind: 'unopened'; readonly why: string }
  | { readonly kind: 'unread'; readonly why: string; readonly hint?: string };

/** A part of a document's text; see `DocumentText`. */
export type DocumentPart = Omit<Extract<DocumentText, { kind: 'text' }>, 'kind'>;

/**
 * `sender` is a key for the person, so that the document readers are shared fairly between people.
 */
export interface SentAttachment {
  readonly stored: StoredAttachment;
  readonly sender: string;
}

/** The files of messages. Only the transcript of a recording is ever stored. */
export type ReadableAttachments = Pick<Store['attachments'], 'ofMessages' | 'bytes' | 'keepText'>;

export interface TurnMediaDeps {
  readonly store: { readonly attachments: ReadableAttachments };
  readonly media: MediaDeps;
  /** The model's context window, in tokens; unlimited when absent. */
  readonly contextTokens?: (() => number) | undefined;
  readonly clock: () => number;
  readonly log: Logger;
}

/**
 * Reads one attachment from a sender. `charactersLeft` is this turn's remaining budget for
 * documents.
 */
export async function readAttachment(
  deps: TurnMediaDeps,
  { stored, sender }: SentAttachment,
  charactersLeft: number,
  signal: AbortSignal,
): Promise<AttachmentContent> {
  if (stored.text !== null) return { kind: 'speech', text: stored.text };
  if (stored.state === 'failed')
    return createUnreadContent(stored.reason ?? 'it could not be fetched');
  if (stored.state === 'pending') return createUnreadContent('it took too long to arrive');
  if (stored.kind === 'video') return createUnreadContent(NO_VIDEO);
  const isSpeech = stored.kind === 'voice' || stored.kind === 'audio';
  if (isSpeech && deps.media.transcription === undefined) return CANNOT_LISTEN;
  if (isSpeech) return transcribeRecording(deps, stored, signal);
  const picture = await readPicture(deps, { stored, sender }, signal);
  if (picture !== null) return picture;
  if (charactersLeft <= 0) {
    return {
      kind: 'unopened',
      why: 'the documents before it already use all the space that one turn has',
    };
  }
  const load = () => deps.store.attachments.bytes(stored);
  const read = await deps.media.readDocument({ sender, characters: charactersLeft, load }, signal);
  return read.kind === 'text' ? { ...read, kind: 'document' } : createUnreadContent(read.reason);
}

/**
 * Reads a picture. Refuses any other file, but returns null for one that was sent as a document.
 * Pictures are never decoded in this process. The bytes are released before the file enters the
 * queue.
 */
async function readPicture(
  deps: TurnMediaDeps,
  sent: SentAttachment,
  signal: AbortSignal,
): Promise<AttachmentContent | null> {
  const { stored } = sent;
  const bytes = await deps.store.attachments.bytes(stored);
  if (bytes === null) return GONE;
  const format = detectPictureFormat(bytes);
  if (format === null) {
    if (stored.kind !== 'document')
      return createUnreadContent('it is not a JPEG, PNG, GIF or WebP picture');
    return isVideo(bytes) ? createUnreadContent(NO_VIDEO) : null;
  }
  const { type, size } = format;
  if (type === 'image/heic') return refuseUnsupportedPicture(type);
  if (size !== null && size.width * size.height > MAX_PIXELS) {
    return createUnreadContent(`it has more than ${MAX_PIXELS / 1_000_000} million pixels`);
  }
  const length = bytes.byteLength;
  const isWorth = isWorthScaling(format, length, deps.media.maxImageDimension);
  if (type === 'image/avif' || isWorth)
    return scalePicture(deps, sent, { ...format, length }, signal);
  return toImageContent(type, bytes);
}

/**
 * The maximum size of a picture for Anthropic: its limit is 5 MB in Base64. Other providers accept
 * larger pictures (https://docs.anthropic.com/en/docs/vision).
 */
const TAKEN = { bytes: 3_750_000, side: 8_000 };

/**
 * Re-encodes a picture that is larger than needed or rotated. If re-encoding fails, the original
 * picture is used.
 */
async function scalePicture(
  { log, media, store: { attachments } }: TurnMediaDeps,
  { stored, sender }: SentAttachment,
  { type, size, length }: PictureFormat & { readonly length: number },
  signal: AbortSignal,
): Promise<AttachmentContent> {
  const load = () => attachments.bytes(stored);
  const made = await media.scalePicture({ sender, side: media.maxImageDimension, load }, signal);
  if (made.kind === 'scaled') return toImageContent('image/jpeg', made.bytes);
  if (!signal.aborted) log.info({ why: made.why }, 'a picture was not scaled down');
  if (type === 'image/avif' || type === 'image/heic') return refuseUnsupportedPicture(type);
  const isTaken =
    length <= TAKEN.bytes && Math.max(size?.width ?? 0, size?.height ?? 0) <= TAKEN.side;
  if (made.kind === 'failed' && !isTaken) return createUnreadContent(TOO_LARGE);
  const bytes = await load();
  return bytes === null ? GONE : toImageContent(type, bytes);
}

const TOO_LARGE =
  'it is larger than models accept, and I could not make it smaller; send it as a smaller JPEG';

const NO_VIDEO = 'I cannot watch videos; send a screenshot of what matters, or describe it';

/**
 * Refuses a picture format that phones produce and few programs can open. Chat apps convert such a
 * picture to JPEG if it is sent as a photo.
 */
function refuseUnsupportedPicture(type: 'image/avif' | 'image/heic'): AttachmentContent {
  const name = type === 'image/heic' ? 'HEIC' : 'AVIF';
  return createUnreadContent(
    `it is a ${name} picture, which I cannot open; send it as JPEG, as a photo instead of as a file, or as a screenshot`,
  );
}

function toImageContent(mimeType: ImageType, bytes: Uint8Array): AttachmentContent {
  // Returns a separate copy, because some databases return a view into a larger buffer.
  return { kind: 'image', image: { mimeType, bytes: new Uint8Array(bytes) } };
}
const CANNOT_LISTEN: AttachmentContent = {
  kind: 'unread',
  why: 'I cannot listen to recordings here',
  hint: 'To change that, configure a speech service under `media.transcription` in the settings.',
};

async function transcribeRecording(
  { store: { attachments }, media: { transcription, fetch }, clock, log }: TurnMediaDeps,
  stored: StoredAttachment,
  signal: AbortSignal,
): Promise<AttachmentContent> {
  if (transcription === undefined) return CANNOT_LISTEN;
  const bytes = await attachments.bytes(stored);
  if (bytes === null) return GONE;
  const heard = await transcribe(new Uint8Array(bytes), transcription, { fetch, signal });
  if (heard.kind === 'refused') {
    // The hint is for owners, because only an owner can change the settings.
    if (!signal.aborted) log.warn({ reason: heard.detail }, 'recording not transcribed');
    return { ...createUnreadContent(heard.reason), hint: `${heard.detail}.` };
  }
  if (heard.text === '') return createUnreadContent('it contains no speech');
  if (stored.isViewOnce === 0) await attachments.keepText(stored, heard.text, clock());
  return { kind: 'speech', text: heard.text };
}

const GONE = createUnreadContent('it is no longer kept');
/** Providers decode the pictures that they receive, and a small file can contain a huge picture. */
const MAX_PIXELS = 50_000_000;

function createUnreadContent(why: string): AttachmentContent & { readonly kind: 'unread' } {
  return { kind: 'unread', why };
}

export interface MediaSettings {
  readonly maxCharacters: number;
  readonly maxImageDimension: number;
  readonly transcription?: TranscriptionSettings | undefined;
  readonly speech?: (SpeechSettings & Omit<TurnSpeechSettings, 'speak'>) | undefined;
}

/**
 * No media code is loaded until a file arrives. Text to be spoken contains no secrets, because
 * every answer of the model is redacted (G18).
 */
export function openMedia({
  maxCharacters,
  maxImageDimension,
  transcription,
  speech,
}: MediaSettings): MediaDeps {
  const { fetch } = globalThis;
  const queue = createReaderQueue();
  return {
    readDocument: createDocumentReader({ queue }),
    scalePicture: createPictureScaler({ queue }),
    maxImageDimension,
    transcription,
    fetch,
    ...(speech !== undefined && {
      speech: {
        when: speech.when,
        maxCharacters: speech.maxCharacters,
        speak: (text, signal) => synthesizeSpeech(text, speech, { fetch, signal }),
      },
    }),
    characters: maxCharacters,
  };
}
