import { describeUnreadContent } from '@parley/channels';
import type { InboundMessage } from '@parley/core';
import { renderPollOption } from './cards.ts';
import { renderAnsweredTask } from './checklist.ts';
import { toMessageId } from './ephemeral.ts';
import { formatMessageId } from './places.ts';
import type { ParsedMessage } from './read-message.ts';
import { getForwardOrigin, getOriginAuthor } from './senders.ts';
import { joinNonEmpty, renderQuotedText } from './shown.ts';
import { spellOutHiddenTargets } from './text.ts';
import type { AnsweredMessage, BotIdentity, ExternalReply, WireMessage } from './wire.ts';
import type { MessageOrigin } from './wire-basics.ts';

/**
 * Prepends the author of forwarded text, so that it is not mistaken for the sender's own text or
 * for a command.
 */
export function markForwarded(text: string, origin: MessageOrigin | undefined): string {
  if (origin === undefined) return text;
  return joinNonEmpty([`[Forwarded from ${getOriginAuthor(origin).name ?? 'somebody'}]`, text]);
}

/** The message replied to, if it is in the same chat. */
export function getReply(
  { message, answered }: ParsedMessage,
  threadId: string | undefined,
  me: BotIdentity,
): Pick<InboundMessage, 'replyTo'> {
  if (answered === undefined) return {};
  const senderId = answered.sender_chat?.id ?? answered.from?.id;
  const text = message.quote
    ? markForwarded(spellOutHiddenTargets(message.quote, 0, me), getForwardOrigin(answered))
    : renderAnsweredText(message, answered, me);
  return {
    replyTo: {
      messageId: formatMessageId(threadId, toMessageId(answered)),
      ...(senderId === undefined ? {} : { senderId: String(senderId) }),
      ...(text === '' ? {} : { text }),
    },
  };
}

function renderAnsweredText(
  message: WireMessage,
  answered: AnsweredMessage,
  me: BotIdentity,
): string {
  const { reply_to_checklist_task_id: task, reply_to_poll_option_id: option } = message;
  const { poll, checklist } = answered;
  // Buttons below a message from this bot are not part of its text.
  const { reply_markup: _, ...bare } = answered;
  return joinNonEmpty([
    checklist === undefined || task === undefined ? '' : renderAnsweredTask(checklist, task),
    poll === undefined || option === undefined ? '' : renderPollOption(poll, option),
    markForwarded(
      renderQuotedText(answered.from?.id === me.id ? bare : answered, me),
      getForwardOrigin(answered),
    ),
  ]);
}

/**
 * A quotation from another chat or topic, from a story, or from a message that no longer exists.
 */
export function getQuotation({
  message,
  answered,
}: ParsedMessage): Pick<InboundMessage, 'quotation'> {
  const { external_reply: external, reply_to_story: story, quote } = message;
  const words = quote === undefined ? '' : spellOutHiddenTargets(quote);
  if (external !== undefined) return { quotation: toExternalQuotation(external, words) };
  if (story !== undefined) {
    const from = story.chat && (story.chat.title ?? story.chat.first_name);
    const text = describeUnreadContent('a story', 'group');
    return { quotation: { text, ...(from === undefined ? {} : { from }) } };
  }
  return answered !== undefined || words === '' ? {} : { quotation: { text: words } };
}

/** Telegram reveals only the quoted part and the files of such a message. */
const UNSHOWN = '[a message whose text Telegram does not show]';

function toExternalQuotation(
  external: ExternalReply,
  words: string,
): NonNullable<InboundMessage['quotation']> {
  const { origin, ...shown } = external;
  const { name, id } = getOriginAuthor(origin);
  const where = external.chat?.title;
  const from =
    where === undefined || where === name ? name : [name, where].filter(Boolean).join(' in ');
  return {
    text: renderQuotedText(words === '' ? shown : { ...shown, text: words }) || UNSHOWN,
    ...(from === undefined ? {} : { from }),
    ...(id === undefined ? {} : { senderId: id }),
  };
}
