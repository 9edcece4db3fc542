import { unreadText } from '@parley/channels';
import type { InboundMessage } from '@parley/core';
import { optionText } from './cards.ts';
import { answeredTask } from './checklist.ts';
import { toMessageId } from './ephemeral.ts';
import { messageIdIn } from './places.ts';
import type { ReadMessage } from './read-message.ts';
import { forwardOrigin, originAuthor } from './senders.ts';
import { joinPresent, textOfQuoted } from './shown.ts';
import { spellOutHidden } from './text.ts';
import type { Answered, BotIdentity, ExternalReply, WireMessage } from './wire.ts';
import type { Origin } from './wire-basics.ts';

/**
 * Prepends the author of forwarded text, so that it is not mistaken for the sender's own text or
 * for a command.
 */
export function markForwarded(text: string, origin: Origin | undefined): string {
  if (origin === undefined) return text;
  return joinPresent([`[Forwarded from ${originAuthor(origin).name ?? 'somebody'}]`, text]);
}

/** The message replied to, if it is in the same chat. */
export function readReply(
  { message, answered }: ReadMessage,
  threadId: string | undefined,
  me: BotIdentity,
): Pick<InboundMessage, 'replyTo'> {
  if (answered === undefined) return {};
  const senderId = answered.sender_chat?.id ?? answered.from?.id;
  const text = message.quote
    ? markForwarded(spellOutHidden(message.quote, 0, me), forwardOrigin(answered))
    : answeredText(message, answered, me);
  return {
    replyTo: {
      messageId: messageIdIn(threadId, toMessageId(answered)),
      ...(senderId === undefined ? {} : { senderId: String(senderId) }),
      ...(text === '' ? {} : { text }),
    },
  };
}

function answeredText(message: WireMessage, answered: Answered, me: BotIdentity): string {
  const { reply_to_checklist_task_id: task, reply_to_poll_option_id: option } = message;
  const { poll, checklist } = answered;
  // Buttons below a message from this bot are not part of its text.
  const { reply_markup: _, ...bare } = answered;
  return joinPresent([
    checklist === undefined || task === undefined ? '' : answeredTask(checklist, task),
    poll === undefined || option === undefined ? '' : optionText(poll, option),
    markForwarded(
      textOfQuoted(answered.from?.id === me.id ? bare : answered, me),
      forwardOrigin(answered),
    ),
  ]);
}

/**
 * A quotation from another chat or topic, from a story, or from a message that no longer exists.
 */
export function quotationOf({ message, answered }: ReadMessage): Pick<InboundMessage, 'quotation'> {
  const { external_reply: external, reply_to_story: story, quote } = message;
  const words = quote === undefined ? '' : spellOutHidden(quote);
  if (external !== undefined) return { quotation: externalQuotation(external, words) };
  if (story !== undefined) {
    const from = story.chat && (story.chat.title ?? story.chat.first_name);
    const text = unreadText('a story', 'group');
    return { quotation: { text, ...(from === undefined ? {} : { from }) } };
  }
  return answered !== undefined || words === '' ? {} : { quotation: { text: words } };
}

/** Telegram reveals only the quoted part and the files of such a message. */
const UNSHOWN = '[a message whose text Telegram does not show]';

function externalQuotation(
  external: ExternalReply,
  words: string,
): NonNullable<InboundMessage['quotation']> {
  const { origin, ...shown } = external;
  const { name, id } = originAuthor(origin);
  const where = external.chat?.title;
  const from =
    where === undefined || where === name ? name : [name, where].filter(Boolean).join(' in ');
  return {
    text: textOfQuoted(words === '' ? shown : { ...shown, text: words }) || UNSHOWN,
    ...(from === undefined ? {} : { from }),
    ...(id === undefined ? {} : { senderId: id }),
  };
}
