import type { Reader } from '@parley/core';
import type { ModelImage } from '@parley/models';
import type { InboxRow, StoredAttachment } from '@parley/store';
import { estimateTokens } from '@parley/workspace';
import {
  FILES_NOTE,
  framedForHistory,
  framedForModel,
  isFramedAsFile,
  nameForPeople,
  type SeenAttachment,
  standInFor,
} from './attachment-text.ts';
import {
  type ReadAttachment,
  readAttachment,
  type SentAttachment,
  type TurnMediaDeps,
} from './read-attachment.ts';

export interface TurnMedia {
  readonly images: readonly ModelImage[];
  readonly attached: readonly string[];
  /** A document came along, which `read_document` reads on. */
  readonly hasDocuments: boolean;
  /** For the model now: one text for each attachment of a message. */
  forModel(message: InboxRow): readonly string[];
  forHistory(message: InboxRow): readonly string[];
  /** For people: what could not be read, or only with a doubt, in Markdown; null when all was. */
  readonly notice: string | null;
}

/** Pictures in one request; providers take between 20 and 100 pictures and about 30 MB. */
const MAX_IMAGES = 10;
const MAX_IMAGE_BYTES = 20 * 1_024 * 1_024;

export function unseenMedia(): TurnMedia {
  const standIns = ({ message }: InboxRow) =>
    (message.attachments ?? []).map(({ viewOnce, ...file }) =>
      standInFor({ ...file, isViewOnce: viewOnce ? 1 : 0 }),
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

/** Reads what came with the messages of a turn, in their order and within its limits. */
export async function readTurnMedia(
  deps: TurnMediaDeps,
  messages: readonly InboxRow[],
  reader: Reader,
  signal: AbortSignal,
): Promise<TurnMedia> {
  const withFiles = messages.filter(({ message }) => message.attachments !== undefined);
  if (withFiles.length === 0) return unseenMedia();
  const stored = await deps.store.attachments.ofMessages(withFiles.map(({ seq }) => seq));
  const senders = new Map(withFiles.map((row) => [row.seq, senderKey(row)]));
  const sent = stored.map((one) => ({ stored: one, sender: senders.get(one.messageSeq) ?? '' }));
  const read = await readAllAttachments(deps, sent, signal);
  const images = read.flatMap((one) => (one.read.kind === 'image' ? [one.read.image] : []));
  const firstFile = read.find((one) => isFramedAsFile(one.stored, one.read));
  const of = ({ seq }: InboxRow) => read.filter(({ stored }) => stored.messageSeq === seq);
  return {
    images,
    attached: stored.map(nameForPeople),
    hasDocuments: read.some((one) => one.read.kind === 'document'),
    forModel: (row) =>
      of(row).flatMap((one) => [
        ...(one === firstFile ? [FILES_NOTE] : []),
        framedForModel(toSeenAttachment(one.stored, row), one.read),
      ]),
    forHistory: (row) =>
      of(row).map((one) => framedForHistory(toSeenAttachment(one.stored, row), one.read)),
    notice: noticeOf(read, reader),
  };
}

/** A stored file with what its message says about it. */
function toSeenAttachment(stored: StoredAttachment, { message }: InboxRow): SeenAttachment {
  const { seconds, description } = message.attachments?.[stored.index] ?? {};
  return {
    ...stored,
    ...(seconds !== undefined && { seconds }),
    ...(description !== undefined && { description }),
  };
}

/** A person as a platform knows them: documents are read fairly among these. */
function senderKey({ message: { channel, account, sender } }: InboxRow): string {
  return JSON.stringify([channel, account, sender.id]);
}

interface Read {
  readonly stored: StoredAttachment;
  readonly read: ReadAttachment;
}

/** The newest message has a quarter of what the model can take; three quarters of that are for documents. */
const SHARE = 3 / 16;
/** A document of which less would be shown is not opened, in tokens. */
const MIN_DOCUMENT_TOKENS = 50;

/** One after another: their bytes need not all be in memory, and documents share their limit. */
async function readAllAttachments(
  deps: TurnMediaDeps,
  sent: readonly SentAttachment[],
  signal: AbortSignal,
): Promise<readonly Read[]> {
  const all: Read[] = [];
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
        read = { kind: 'unread', why: 'the pictures are larger together than I can look at' };
      } else {
        images += 1;
        imageBytes += size;
      }
    }
    all.push({ stored: one.stored, read });
  }
  return all;
}

type ReadDocument = Extract<ReadAttachment, { kind: 'document' }>;

/** The beginning that has room, so that what was written with the document is not cut off behind it. */
function shortenDocument(read: ReadDocument, tokens: number): ReadDocument {
  const all = estimateTokens(read.text);
  if (all <= tokens) return read;
  // The estimate is by characters, which do not all cost the same.
  let length = Math.floor((read.text.length * tokens) / all);
  while (estimateTokens(read.text.slice(0, length)) > tokens) length = Math.floor(length * 0.9);
  const text = read.text.slice(0, length).toWellFormed();
  return { ...read, text, next: length };
}

/** Each reason once, however many files it concerns; owners read what they can do about it. */
function noticeOf(all: readonly Read[], reader: Reader): string | null {
  const names = new Map<string, string[]>();
  for (const { stored, read } of all) {
    // An animated sticker asks for no answer.
    if (read.kind !== 'unread' || stored.kind === 'sticker') continue;
    const hint = reader.kind === 'owner' && read.hint !== undefined ? ` ${read.hint}` : '';
    const why = `${read.why}.${hint}`;
    names.set(why, [...(names.get(why) ?? []), nameForPeople(stored)]);
  }
  const list = new Intl.ListFormat('en');
  const unread = [...names].map(
    ([why, some]) => `I could not read ${list.format(limitNames(countNames(some)))}: ${why}`,
  );
  const doubtful = [...decodingWarnings(all)].map(
    ([why, some]) => `About ${list.format(limitNames(countNames(some)))}: ${why}`,
  );
  const lines = [...unread, ...doubtful];
  return lines.length === 0 ? null : lines.join('\n\n');
}

/** Doubts about the decoding of documents, with their names (W10). */
function decodingWarnings(all: readonly Read[]): ReadonlyMap<string, readonly string[]> {
  const names = new Map<string, string[]>();
  for (const { stored, read } of all) {
    if (read.kind !== 'document' || read.warning === null) continue;
    names.set(read.warning, [...(names.get(read.warning) ?? []), nameForPeople(stored)]);
  }
  return names;
}

/** Names in one sentence; of a flood of files the first ones say enough. */
const MAX_NAMES = 5;

function limitNames(names: readonly string[]): readonly string[] {
  const more = names.length - MAX_NAMES;
  return more <= 1 ? names : [...names.slice(0, MAX_NAMES), `${more} more files`];
}

function countNames(names: readonly string[]): string[] {
  return [...Map.groupBy(names, (name) => name)].map(([name, { length }]) =>
    length === 1 ? name : `${name} (${length} times)`,
  );
}
