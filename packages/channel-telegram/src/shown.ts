import { unreadText } from '@parley/channels';
import type { Attachment, ChatType } from '@parley/core';
import { shownFiles } from './attachments.ts';
import { type Cards, cardsOf } from './cards.ts';
import { checklistText } from './checklist.ts';
import { eventReason, hasContent, unknownContent } from './message-fields.ts';
import { richTextOf } from './rich-text.ts';
import { type Marked, spellOutHidden } from './text.ts';
import type { Answered, BotIdentity, WireMessage } from './wire.ts';
import type { Media } from './wire-basics.ts';

/** The visible fields of any message, including one that is replied to or quoted. */
export type Showing = Cards &
  Media &
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
export interface Shown {
  /** The typed text of a message: its text, its caption, or the text of a formatted message. */
  readonly words: string;
  readonly cards: readonly string[];
  /** The name of unreadable content, with its article. */
  readonly unread: string | undefined;
}

/** Reads the visible content of a message. Mentions of `me`, the bot, are not followed by a URL. */
export function readShown(message: Showing, me?: BotIdentity): Shown {
  const { rich_message: rich, checklist } = message;
  const words = [
    spellOutHidden(messageText(message), 0, me),
    rich === undefined ? '' : richTextOf(rich).text,
  ];
  const list = checklist === undefined ? [] : [checklistText(checklist)];
  return {
    words: words.filter((text) => text !== '').join('\n'),
    cards: [...cardsOf(message), ...list],
    unread: unreadIn(message),
  };
}

/** The text of a message, or its caption. */
export function messageText({ text, entities, caption, caption_entities }: Showing): Marked {
  if (text !== undefined) return { text, entities: entities ?? [] };
  return { text: caption ?? '', entities: caption_entities ?? [] };
}

const UNREAD = ['story', 'game', 'invoice', 'paid_media', 'passport_data', 'gift', 'unique_gift'];

function unreadIn(message: Showing): string | undefined {
  const { sticker } = message;
  if (sticker?.is_animated === true)
    return sticker.emoji === undefined
      ? 'an animated sticker'
      : `an animated sticker (${sticker.emoji})`;
  const isPaidFor = shownFiles({ paid_media: message.paid_media }).length > 0;
  const field = UNREAD.find((name) => name in message && !(name === 'paid_media' && isPaidFor));
  return field === undefined ? undefined : unknownContent({ [field]: true });
}

/**
 * The text of a person's message as the agent reads it; `words` are those of `shown`, or a command.
 */
export function textOfMessage(
  { message, shown }: { readonly message: WireMessage; readonly shown: Shown },
  words: string,
  type: ChatType,
): string {
  const { cards, unread } = shown;
  const isNothing = words === '' && cards.length === 0 && shownFiles(message).length === 0;
  const named = unread ?? (isNothing ? unknownContent(message) : undefined);
  return joinPresent([words, ...cards, named === undefined ? '' : unreadText(named, type)]);
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
export function textOfQuoted(message: Showing | Answered, me?: BotIdentity): string {
  const { words, cards, unread } = readShown(message, me);
  const named = unread === undefined ? '' : unreadText(unread, 'group');
  const text =
    joinPresent([words, ...cards, named]) || shownFiles(message).map(attachmentLabel).join(' ');
  const isUnknown = text === '' && eventReason(message) === undefined && hasContent(message);
  return isUnknown ? unreadText(unknownContent(message), 'group') : text;
}

function attachmentLabel({ kind, name }: Attachment): string {
  return name === undefined ? `[${LABELS[kind]}]` : `[${LABELS[kind]}: ${name}]`;
}

/** Joins the texts with line breaks, leaving out empty ones. */
export function joinPresent(texts: readonly (string | undefined)[]): string {
  return texts.filter((text) => text !== undefined && text !== '').join('\n');
}
