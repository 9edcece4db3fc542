import type { Attachment, InboundMessage } from '@parley/core';
import type { proto } from '@whiskeysockets/baileys';
import { readQuotedMessage, type VisibleContent } from './look.ts';
import { describeFile } from './media-ref.ts';
import { replaceMentions, shortenName } from './mentions.ts';
import { isGroup, isPerson, type PersonIds, toPersonJid, toPublicId } from './people.ts';

/** What is needed to read a quotation. */
export interface QuoteContext {
  readonly me: PersonIds;
  /** The chat with the replying message, by the platform's id. */
  readonly chat: string;
  /**
   * The JIDs that the core uses for people named in the message, keyed by the JIDs in the message.
   */
  readonly people: ReadonlyMap<string, string>;
  /** The name that a person chose, if known. */
  readonly nameOf: (jid: string) => string | undefined;
  /** The title of a group, if known. */
  readonly titleOf: (jid: string) => string | undefined;
}

/** The original message of a reply or quotation. */
export interface QuotedMessage {
  readonly shown: VisibleContent | undefined;
  /** The text that the model reads; empty if the quotation has none. */
  readonly text: string;
  readonly senderJid: string | undefined;
  /**
   * The origin if it is outside this chat, such as a status or a group; undefined for this chat.
   */
  readonly elsewhere: string | undefined;
}

/** Reads a message's quotation; undefined if there is none. */
export function getQuotedMessage(
  context: proto.IContextInfo | undefined,
  facts: QuoteContext,
): QuotedMessage | undefined {
  if (!context?.stanzaId && !context?.quotedMessage) return undefined;
  const senderJid = toPersonJid(context.participant);
  const fromMe = isPerson(context.participant, facts.me) ? { fromMe: true as const } : {};
  const elsewhere = findOtherChat(context.remoteJid, facts.chat);
  const place = {
    chat: elsewhere ?? facts.chat,
    id: context.stanzaId ?? '',
    ...((isGroup(elsewhere ?? facts.chat) || elsewhere !== undefined) && senderJid !== undefined
      ? { writer: senderJid }
      : {}),
    ...fromMe,
  };
  const shown = context.quotedMessage ? readQuotedMessage(context.quotedMessage, place) : undefined;
  const text = shown === undefined ? '' : renderQuotedText(shown, context, facts);
  // A kind that is newer than Baileys appears as an empty message in the quotation.
  const isUnknown = shown === undefined && context.quotedMessage != null;
  return { shown, text: isUnknown ? UNKNOWN : text, senderJid, elsewhere };
}

const UNKNOWN = '[a message that cannot be read here]';

/**
 * The text of the quoted message or, if there is none, the names of its content, so that a reply to
 * a picture mentions the picture.
 */
function renderQuotedText(
  shown: VisibleContent,
  context: proto.IContextInfo,
  facts: QuoteContext,
): string {
  const named = [...shown.files.map((file) => `a ${describeFile(file)}`), ...shown.unread];
  const isWordless = shown.words === '';
  const list = isWordless ? named : shown.unread;
  const names = list.map((name) => `[${name}]`).join(' ');
  const words = replaceMentions(shown.words, mergeMentions(context, shown), facts.nameOf);
  return [words, names].filter((part) => part !== '').join('\n');
}

/**
 * Apps remove the list of mentions from a quoted message, but the replying message may contain it.
 */
function mergeMentions(context: proto.IContextInfo, shown: VisibleContent): proto.IContextInfo {
  const mentionedJid = [...(shown.context?.mentionedJid ?? []), ...(context.mentionedJid ?? [])];
  return { ...shown.context, mentionedJid };
}

/**
 * The quoted chat if it differs from this one: a status, a group or a channel. A person's id does
 * not count, because either of the person's two ids may stand for a direct chat.
 */
function findOtherChat(remoteJid: string | null | undefined, chat: string): string | undefined {
  if (!remoteJid || remoteJid === chat) return undefined;
  return /@(?:g\.us|broadcast|newsletter)$/.test(remoteJid) ? remoteJid : undefined;
}

/**
 * Whether the core accepts a string as an id. WhatsApp's own ids are short, but the sender's app
 * may write anything.
 */
export function isValidId(id: string | null | undefined): id is string {
  return id != null && id !== '' && id.length <= 256;
}

/** A quoted message from this chat. */
export function getReply(
  context: proto.IContextInfo | undefined,
  quoted: QuotedMessage | undefined,
  { people }: Pick<QuoteContext, 'people'>,
): Pick<InboundMessage, 'replyTo'> {
  const messageId = context?.stanzaId;
  if (!isValidId(messageId) || quoted === undefined || quoted.elsewhere !== undefined) return {};
  const { senderJid: sender, text } = quoted;
  return {
    replyTo: {
      messageId,
      ...(sender === undefined ? {} : { senderId: toPublicId(people.get(sender) ?? sender) }),
      ...(text === '' ? {} : { text }),
    },
  };
}

type Quotation = NonNullable<InboundMessage['quotation']>;

/**
 * Text from outside this chat: a quoted status or group message, the preview of a link, an
 * advertisement.
 */
export function getQuotation(
  shown: VisibleContent,
  quoted: QuotedMessage | undefined,
  facts: QuoteContext,
): Pick<InboundMessage, 'quotation'> {
  const all: Quotation[] = [
    ...listExternalQuotations(shown.context, quoted, facts),
    ...shown.beside,
    ...listQuestionQuotations(shown.context),
    ...listAdvertisements(shown.context),
  ];
  const [first, ...more] = all;
  if (first === undefined) return {};
  if (more.length === 0) return { quotation: first };
  const text = all.map((one) => `${one.from ?? 'quoted'}: ${one.text}`).join('\n');
  const sender = first.senderId === undefined ? {} : { senderId: first.senderId };
  return { quotation: { text, ...sender } };
}

/** A quotation from another chat, or one without an id to reply to. */
function listExternalQuotations(
  context: proto.IContextInfo | undefined,
  quoted: QuotedMessage | undefined,
  facts: QuoteContext,
): Quotation[] {
  if (quoted === undefined || quoted.text === '') return [];
  const { senderJid: sender, text, elsewhere } = quoted;
  if (elsewhere === undefined && isValidId(context?.stanzaId)) return [];
  const isOurs = sender !== undefined && isPerson(sender, facts.me);
  const name = isOurs ? 'this account' : sender && shortenName(facts.nameOf(sender) ?? '');
  const place = elsewhere === undefined ? 'this chat' : getChatName(elsewhere, facts);
  const from = `${name || 'someone'} in ${place}`;
  return [
    {
      text,
      from,
      ...(sender === undefined ? {} : { senderId: toPublicId(facts.people.get(sender) ?? sender) }),
    },
  ];
}

function getChatName(jid: string, { titleOf }: QuoteContext): string {
  if (jid === 'status@broadcast') return 'a status';
  if (isGroup(jid)) return titleOf(jid) ?? 'another group';
  return jid.endsWith('@newsletter') ? 'a channel' : 'a list';
}

/** The question in a channel to which a message is an answer, and such an answer. */
function listQuestionQuotations(context: proto.IContextInfo | undefined): Quotation[] {
  const { quotedQuestion, quotedResponse } = context?.questionReplyQuotedMessage ?? {};
  const texts = [quotedQuestion, quotedResponse].map((message) =>
    message ? (readQuotedMessage(message, { chat: '', id: '' })?.words ?? '') : '',
  );
  const text = texts.filter((one) => one !== '').join('\n');
  return text === '' ? [] : [{ from: 'a question to a channel', text }];
}

/**
 * The advertisement that led a person to the account. A customer's first message is often just "Is
 * this available?".
 */
function listAdvertisements(context: proto.IContextInfo | undefined): Quotation[] {
  const { externalAdReply: ad, quotedAd, actionLink } = context ?? {};
  const found = [
    ['an advertisement', [ad?.title, ad?.body, ad?.greetingMessageBody, ad?.sourceUrl]],
    ['an advertisement', [quotedAd?.advertiserName, quotedAd?.caption]],
    ['a button', [actionLink?.buttonTitle, actionLink?.url]],
  ] as const;
  return found.flatMap(([from, parts]) => {
    const text = parts.filter((part) => typeof part === 'string' && part !== '').join('\n');
    return text === '' ? [] : [{ from, text }];
  });
}

/**
 * The files in the quoted message if the message itself has none: "what is this?" below a picture.
 */
export function selectFiles(
  shown: VisibleContent,
  quoted: QuotedMessage | undefined,
): readonly Attachment[] {
  return shown.files.length > 0 ? shown.files : (quoted?.shown?.files ?? []);
}
