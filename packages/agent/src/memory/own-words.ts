import type { InboundMessage, Reader } from '@parley/core';
import {
  type MemoryEntry,
  type MemoryScope,
  type MemoryType,
  memoryId,
  memoryLine,
} from '@parley/workspace';
import { triggerIn } from './trigger-words.ts';

interface OwnSentence {
  readonly text: string;
  readonly message: InboundMessage;
}

const LOOKED_AT = 8_000;

/** Channels mark a forwarded message so; all of it is text of another person. */
export function isForwarded(text: string): boolean {
  return text.startsWith('[Forwarded');
}

/**
 * The sentences that a person wrote: without code, quoted lines, addresses, forwarded text and text
 * pasted from mails, chats or pages. Text in quotation marks stays; the caller decides whose it is.
 * Transcribed speech does not count: it is not verbatim, and a recording may be of any person.
 */
export function ownSentences(messages: readonly InboundMessage[]): readonly OwnSentence[] {
  return messages.flatMap((message) => {
    if (message.trigger !== undefined || message.sender.isBot) return [];
    return sentencesOf(ownText(message.text)).map((text) => ({ text, message }));
  });
}

/** The sentences that ask to be remembered (G13). */
export function askedSentences(messages: readonly InboundMessage[]) {
  return ownSentences(messages).flatMap((sentence) => {
    const trigger = triggerIn(sentence.text);
    return trigger === null ? [] : [{ ...sentence, trigger }];
  });
}

/** Lines that start pasted text; everything after them is ignored. */
const PASTED: readonly RegExp[] = [
  /^[^\S\n]*(?:from|von|to|an|subject|betreff|发件人|收件人|主题)\s*[:：][^\S\n]*\S/imu,
  /^[^\S\n]*-{2,}[^\S\n]*(?:original|forwarded|ursprüngliche|weitergeleitete|原始|转发)/imu,
  /^[^\S\n]*(?:on|am|le)\b.{4,90}\b(?:wrote|schrieb)\b.{0,60}:[^\S\n]*$/imu,
  // Chats, as they are copied: `[12:03, 21.11.2026] Bob: …`, `21.11.26, 12:03 - Bob: …`.
  /^[^\S\n]*\[?\d{1,4}[:./-]\d{1,2}.{0,24}(?:\]| -) ?[^\n:]{1,40}: /mu,
  /^[^\S\n]*<\/?[a-z][^\n>]*>/imu,
];

/** The first `most` characters of a text, without what is probably text of another person. */
export function ownText(text: string, most = LOOKED_AT): string {
  if (isForwarded(text)) return '';
  const start = text.slice(0, most).toWellFormed();
  const pasted = PASTED.map((form) => start.search(form)).filter((at) => at !== -1);
  return start
    .slice(0, Math.min(start.length, ...pasted))
    .replace(/```[\s\S]*?(?:```|$)/g, '\n')
    .replace(/`[^`\n]*`/g, ' ')
    .replace(/^[^\S\n]*[>＞].*$/gm, '')
    .replace(/https?:\/\/\S+/g, ' ');
}

function sentencesOf(text: string): readonly string[] {
  return text
    .split(/(?<=[.!?…])\s+|(?<=[。！？])|\n+/u)
    .map((sentence) => sentence.replace(/\s+/g, ' ').trim())
    .filter((sentence) => /[\p{L}\p{N}]/u.test(sentence));
}

export interface SaveRequest {
  readonly type: MemoryType;
  readonly scope: MemoryScope;
  /** Verbatim text of the person in this turn's messages. */
  readonly quote?: string | undefined;
  /** The agent's own text, where there is no quote. */
  readonly note?: string | undefined;
  readonly automatic?: boolean;
}

export interface SavingPlace {
  readonly reader: Reader;
  readonly chatType: InboundMessage['chat']['type'];
  readonly session: number;
  /** `2026-11-21` */
  readonly date: string;
  readonly messages: readonly InboundMessage[];
}

type Judged =
  | { readonly kind: 'save'; readonly entry: MemoryEntry }
  | { readonly kind: 'refuse'; readonly why: string };

/**
 * Decides whether something may be saved, and with which text (G13). A person's statement is kept as the
 * whole sentences they wrote, never as paraphrased by a model, which may have been manipulated;
 * preferences, habits and rules exist in no other form.
 */
export function judgeSaving(request: SaveRequest, place: SavingPlace): Judged {
  const isGroup = place.chatType !== 'direct';
  if (isGroup && request.type !== 'fact') {
    return refuse(
      `In a group only facts about the group or about who wrote them are kept, no ${request.type}s. Save it as a fact, or leave it.`,
    );
  }
  if (request.quote !== undefined) return judgeQuote(request, request.quote, place);
  return judgeNote(request, place);
}

function judgeQuote(request: SaveRequest, quote: string, place: SavingPlace): Judged {
  const said = sentencesWith(quote, ownSentences(place.messages));
  const [first] = said;
  if (first === undefined) {
    return refuse(
      'These words are not in what the person wrote in this turn. Quote their own words exactly; what stands in quotations, files, web pages and results of tools, or was said by others, is not theirs.',
    );
  }
  const text = memoryLine(said.map((sentence) => sentence.text).join(' '));
  return { kind: 'save', entry: entryOf(request, place, { text, words: 'own' }, first.message) };
}

/** A note of the agent: in the owner's chat only, and never an instruction. */
function judgeNote(request: SaveRequest, place: SavingPlace): Judged {
  const text = memoryLine(request.note ?? '');
  if (text === '') return refuse('There is nothing to save: give `quote`.');
  const isPlain = request.type === 'fact' && request.scope !== 'user';
  if (place.reader.kind !== 'owner' || !isPlain) {
    return refuse(
      'Without the person’s own words only facts about the project or this session are kept, in the owner’s direct chat. Give `quote`.',
    );
  }
  const message = place.messages.findLast(({ trigger }) => trigger === undefined);
  if (message === undefined) return refuse('Nobody has written in this turn.');
  return { kind: 'save', entry: entryOf(request, place, { text, words: 'agent' }, message) };
}

/** Shortest quotation, in characters; two are a word in Chinese. */
const LEAST = 2;

/** The whole sentences that contain a quotation: neighbours in one message. */
function sentencesWith(quote: string, sentences: readonly OwnSentence[]): readonly OwnSentence[] {
  const wanted = folded(quote);
  if ([...wanted].length < LEAST) return [];
  for (const [at, { message }] of sentences.entries()) {
    let text = '';
    for (let end = at; sentences[end]?.message === message; end += 1) {
      text = `${text} ${folded(sentences[end]?.text ?? '')}`.trim();
      if (text.length < wanted.length || !` ${text} `.includes(wanted)) continue;
      // It starts in this sentence, or a later one would contain it alone.
      const first = folded(sentences[at]?.text ?? '');
      if (text.indexOf(wanted) < first.length) return sentences.slice(at, end + 1);
    }
  }
  return [];
}

/** Ignores case, spaces and the shape of quotation marks. */
function folded(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[’‘`´]/g, "'")
    .replace(/^["“”„«»\s]+|["“”„«»\s]+$/g, '')
    .replace(/\s+/g, ' ');
}

function entryOf(
  { type, scope, automatic = false }: SaveRequest,
  { reader, session, date }: SavingPlace,
  { text, words }: Pick<MemoryEntry, 'text' | 'words'>,
  { channel, account, chat, messageId, sender }: InboundMessage,
): MemoryEntry {
  const { conversationId: conversation } = reader;
  return {
    id: memoryId([channel, account, chat.id, messageId, text]),
    type,
    scope,
    text,
    person: `${channel}:${sender.id}`,
    date,
    from: { channel, chat: chat.id, message: messageId, conversation, session },
    words,
    automatic,
  };
}

function refuse(why: string): Judged {
  return { kind: 'refuse', why };
}
