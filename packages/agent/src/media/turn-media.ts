import type { Reader } from '@parley/core';
import type { ModelImage } from '@parley/models';
import type { InboxRow, StoredAttachment } from '@parley/store';
import { estimateTokens } from '@parley/workspace';
import {
  FILES_NOTE,
  formatAttachmentForHistory,
  formatAttachmentForModel,
  formatAttachmentName,
  formatAttachmentPlaceholder,
  isShownAsFile,
  type MessageAttachment,
} from './attachment-text.ts';
import {
  type AttachmentContent,
  readAttachment,
  type SentAttachment,
  type TurnMediaDeps,
} from './read-attachment.ts';

export interface TurnMedia {
  readonly images: readonly ModelImage[];
  readonly attached: readonly string[];
  /** True if a document was sent, so that `read_document` is offered. */
  readonly hasDocuments: boolean;
  /** The text for the model in this turn, one entry per attachment. */
  forModel(message: InboxRow): readonly string[];
  forHistory(message: InboxRow): readonly string[];
  /**
   * A notice for people, in Markdown, that lists the files that could not be read or whose text may
   * be wrong.
   */
  readonly notice: string | null;
}

/**
 * The limits for pictures in one request. Providers accept between 20 and 100 pictures and about 30
 * MB.
 */
const MAX_IMAGES = 10;
const MAX_IMAGE_BYTES = 20 * 1_024 * 1_024;

export function createEmptyTurnMedia(): TurnMedia {
  const standIns = ({ message }: InboxRow) =>
    (message.attachments ?? []).map(({ viewOnce, ...file }) =>
      formatAttachmentPlaceholder({ ...file, isViewOnce: viewOnce ? 1 : 0 }),
    );
  return {
    images: [],
    attached: [],
    hasDocuments: false,
    forModel: standIns,
    forHistory: standIns,
    notice: null,
  };
}

/** Reads a turn's attachments, in order and within its limits. */
export async function readTurnMedia(
  deps: TurnMediaDeps,
  messages: readonly InboxRow[],
  reader: Reader,
  signal: AbortSignal,
): Promise<TurnMedia> {
  const withFiles = messages.filter(({ message }) => message.attachments !== undefined);
  if (withFiles.length === 0) return createEmptyTurnMedia();
  const stored = await deps.store.attachments.ofMessages(withFiles.map(({ seq }) => seq));
  const senders = new Map(withFiles.map((row) => [row.seq, toSenderKey(row)]));
  const sent = stored.map((one) => ({ stored: one, sender: senders.get(one.messageSeq) ?? '' }));
  const read = await readAllAttachments(deps, sent, signal);
  const images = read.flatMap((one) => (one.read.kind === 'image' ? [one.read.image] : []));
  const firstFile = read.find((one) => isShownAsFile(one.stored, one.read));
  const of = ({ seq }: InboxRow) => read.filter(({ stored }) => stored.messageSeq === seq);
  return {
    images,
    attached: stored.map(formatAttachmentName),
    hasDocuments: read.some((one) => one.read.kind === 'document'),
    forModel: (row) =>
      of(row).flatMap((one) => [
        ...(one === firstFile ? [FILES_NOTE] : []),
        formatAttachmentForModel(toMessageAttachment(one.stored, row), one.read),
      ]),
    forHistory: (row) =>
      of(row).map((one) =>
        formatAttachmentForHistory(toMessageAttachment(one.stored, row), one.read),
      ),
    notice: createUnreadNotice(read, reader),
  };
}

function toMessageAttachment(stored: StoredAttachment, { message }: InboxRow): MessageAttachment {
  const { seconds, description } = message.attachments?.[stored.index] ?? {};
  return {
    ...stored,
    ...(seconds !== undefined && { seconds }),
    ...(description !== undefined && { description }),
  };
}

/**
 * A key for a person on a platform, so that the document readers are shared fairly between people.
 */
function toSenderKey({ message: { channel, account, sender } }: InboxRow): string {
  return JSON.stringify([channel, account, sender.id]);
}

interface NamedAttachmentContent {
  readonly stored: StoredAttachment;
  readonly read: AttachmentContent;
}

/**
 * The share of the context window for documents: three quarters of the quarter reserved for the
 * newest message.
 */
const SHARE = 3 / 16;
/** A document is not opened if less than this could be shown, in tokens. */
const MIN_DOCUMENT_TOKENS = 50;

/**
 * Reads attachments one after another, so that their bytes are not all in memory at the same time.
 */
async function readAllAttachments(
  deps: TurnMediaDeps,
  sent: readonly SentAttachment[],
  signal: AbortSignal,
): Promise<readonly NamedAttachmentContent[]> {
  const all: NamedAttachmentContent[] = [];
  let characters = deps.media.characters;
  let tokens = SHARE * (deps.contextTokens?.() ?? Number.POSITIVE_INFINITY);
  let images = 0;
  let imageBytes = 0;
  for (const one of sent) {
    let read = await readAttachment(
      deps,
      one,
      tokens < MIN_DOCUMENT_TOKENS ? 0 : characters,
      signal,
    );
    if (read.kind === 'document') {
      read = shortenDocument(read, tokens);
      characters -= read.text.length;
      tokens -= estimateTokens(read.text);
    }
    if (read.kind === 'image') {
      const size = read.image.bytes.byteLength;
      if (images >= MAX_IMAGES) {
        read = { kind: 'unread', why: `I can look at ${MAX_IMAGES} pictures at once` };
      } else if (imageBytes + size > MAX_IMAGE_BYTES) {
        read = { kind: 'unread', why: 'together the pictures are too large for me' };
      } else {
        images += 1;
        imageBytes += size;
      }
    }
    all.push({ stored: one.stored, read });
  }
  return all;
}

type DocumentContent = Extract<AttachmentContent, { kind: 'document' }>;

/**
 * Truncates a document to its share of the limit, so that the message text after the document is
 * not cut off.
 */
function shortenDocument(read: DocumentContent, tokens: number): DocumentContent {
  const all = estimateTokens(read.text);
  if (all <= tokens) return read;
  // The length is an estimate, because characters differ in cost.
  let length = Math.floor((read.text.length * tokens) / all);
  while (estimateTokens(read.text.slice(0, length)) > tokens) length = Math.floor(length * 0.9);
  const text = read.text.slice(0, length).toWellFormed();
  return { ...read, text, next: length };
}

/**
 * States each reason once, with all the files that it applies to. Owners also read how to fix it.
 */
function createUnreadNotice(all: readonly NamedAttachmentContent[], reader: Reader): string | null {
  const names = new Map<string, string[]>();
  for (const { stored, read } of all) {
    // An animated sticker needs no notice.
    if (read.kind !== 'unread' || stored.kind === 'sticker') continue;
    const hint = reader.kind === 'owner' && read.hint !== undefined ? ` ${read.hint}` : '';
    const why = `${read.why}.${hint}`;
    names.set(why, [...(names.get(why) ?? []), formatAttachmentName(stored)]);
  }
  const list = new Intl.ListFormat('en');
  const unread = [...names].map(
    ([why, some]) => `I could not read ${list.format(limitNames(formatNameCounts(some)))}: ${why}`,
  );
  const doubtful = [...listDecodingWarnings(all)].map(
    ([why, some]) => `About ${list.format(limitNames(formatNameCounts(some)))}: ${why}`,
  );
  const lines = [...unread, ...doubtful];
  return lines.length === 0 ? null : lines.join('\n\n');
}

/**
 * Warnings about how documents were decoded, each with the names of the affected documents (W10).
 */
function listDecodingWarnings(
  all: readonly NamedAttachmentContent[],
): ReadonlyMap<string, readonly string[]> {
  const names = new Map<string, string[]>();
  for (const { stored, read } of all) {
    if (read.kind !== 'document' || read.warning === null) continue;
    names.set(read.warning, [...(names.get(read.warning) ?? []), formatAttachmentName(stored)]);
  }
  return names;
}

/** The maximum number of names in one sentence; the remaining files are only counted. */
const MAX_NAMES = 5;

function limitNames(names: readonly string[]): readonly string[] {
  const more = names.length - MAX_NAMES;
  return more <= 1 ? names : [...names.slice(0, MAX_NAMES), `${more} more files`];
}

function formatNameCounts(names: readonly string[]): string[] {
  return [...Map.groupBy(names, (name) => name)].map(([name, { length }]) =>
    length === 1 ? name : `${name} (${length} times)`,
  );
}
