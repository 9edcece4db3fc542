import { describeUnreadContent } from '@parley/channels';
import type { Attachment, ChatType } from '@parley/core';
import { listVisibleFiles } from './attachments.ts';
import { type CardFields, renderCards } from './cards.ts';
import { renderChecklist } from './checklist.ts';
import { findEventReason, hasContent, nameUnknownContent } from './message-fields.ts';
import { parseRichText } from './rich-text.ts';
import { type MarkedText, spellOutHiddenTargets } from './text.ts';
import type { AnsweredMessage, BotIdentity, WireMessage } from './wire.ts';
import type { MessageMedia } from './wire-basics.ts';

/** The visible fields of any message, including one that is replied to or quoted. */
export type VisibleMessage = CardFields &
  MessageMedia &
  Partial<
    Pick<
      WireMessage,
      | 'entities'
      | 'caption'
      | 'caption_entities'
      | 'rich_message'
      | 'checklist'
      | 'story'
      | 'paid_media'
    >
  >;

/** The visible content of a message, apart from its files. */
export interface VisibleContent {
  /** The typed text of a message: its text, its caption, or the text of a formatted message. */
  readonly words: string;
  readonly cards: readonly string[];
  /** The name of unreadable content, with its article. */
  readonly unread: string | undefined;
}

/** Reads the visible content of a message. Mentions of `me`, the bot, are not followed by a URL. */
export function readVisibleContent(message: VisibleMessage, me?: BotIdentity): VisibleContent {
  const { rich_message: rich, checklist } = message;
  const words = [
    spellOutHiddenTargets(getMessageText(message), 0, me),
    rich === undefined ? '' : parseRichText(rich).text,
  ];
  const list = checklist === undefined ? [] : [renderChecklist(checklist)];
  return {
    words: words.filter((text) => text !== '').join('\n'),
    cards: [...renderCards(message), ...list],
    unread: findUnreadContent(message),
  };
}

/** The text of a message, or its caption. */
export function getMessageText({
  text,
  entities,
  caption,
  caption_entities,
}: VisibleMessage): MarkedText {
  if (text !== undefined) return { text, entities: entities ?? [] };
  return { text: caption ?? '', entities: caption_entities ?? [] };
}

const UNREAD = ['story', 'game', 'invoice', 'paid_media', 'passport_data', 'gift', 'unique_gift'];

function findUnreadContent(message: VisibleMessage): string | undefined {
  const { sticker } = message;
  if (sticker?.is_animated === true)
    return sticker.emoji === undefined
      ? 'an animated sticker'
      : `an animated sticker (${sticker.emoji})`;
  const isPaidFor = listVisibleFiles({ paid_media: message.paid_media }).length > 0;
  const field = UNREAD.find((name) => name in message && !(name === 'paid_media' && isPaidFor));
  return field === undefined ? undefined : nameUnknownContent({ [field]: true });
}

/**
 * The text of a person's message as the agent reads it; `words` are those of `shown`, or a command.
 */
export function renderMessageText(
  { message, shown }: { readonly message: WireMessage; readonly shown: VisibleContent },
  words: string,
  type: ChatType,
): string {
  const { cards, unread } = shown;
  const isNothing = words === '' && cards.length === 0 && listVisibleFiles(message).length === 0;
  const named = unread ?? (isNothing ? nameUnknownContent(message) : undefined);
  return joinNonEmpty([
    words,
    ...cards,
    named === undefined ? '' : describeUnreadContent(named, type),
  ]);
}

const LABELS: Readonly<Record<Attachment['kind'], string>> = {
  image: 'picture',
  video: 'video',
  audio: 'recording',
  voice: 'voice message',
  document: 'file',
  sticker: 'sticker',
};

/**
 * The visible text of a message that was replied to or quoted. A message without text is described
 * by the kinds of its files, or as having unknown content.
 */
export function renderQuotedText(
  message: VisibleMessage | AnsweredMessage,
  me?: BotIdentity,
): string {
  const { words, cards, unread } = readVisibleContent(message, me);
  const named = unread === undefined ? '' : describeUnreadContent(unread, 'group');
  const text =
    joinNonEmpty([words, ...cards, named]) ||
    listVisibleFiles(message).map(formatAttachmentLabel).join(' ');
  const isUnknown = text === '' && findEventReason(message) === undefined && hasContent(message);
  return isUnknown ? describeUnreadContent(nameUnknownContent(message), 'group') : text;
}

function formatAttachmentLabel({ kind, name }: Attachment): string {
  return name === undefined ? `[${LABELS[kind]}]` : `[${LABELS[kind]}: ${name}]`;
}

/** Joins the non-empty strings with line breaks. */
export function joinNonEmpty(texts: readonly (string | undefined)[]): string {
  return texts.filter((text) => text !== undefined && text !== '').join('\n');
}
