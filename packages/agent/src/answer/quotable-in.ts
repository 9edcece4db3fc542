import type { ClaimedTurn, InboxRow } from '@parley/store';
import { leadingMessage } from '../turn-opening.ts';
import type { QuotableMessages } from './visible-text.ts';

/**
 * The messages that the answer of a turn may quote: those it answers (`joined`: later ones) and those that they quote, of the
 * chat it goes to. None where the platform cannot show it. Ids of other chats would name other messages.
 */
export function quotableIn(turn: ClaimedTurn, joined: readonly InboxRow[] = []): QuotableMessages {
  const leading = leadingMessage(turn);
  const { route } = leading;
  if (route.quotes !== true) return { known: new Set() };
  const ofChat = [...turn.messages, ...joined].filter((row) => isSaidWhere(row, leading));
  const known = ofChat.flatMap(({ message: { messageId, replyTo } }) =>
    replyTo === undefined ? [messageId] : [messageId, replyTo.messageId],
  );
  const heard = turn.groupContext.map(({ messageId }) => messageId);
  const isShown = isSaidWhere(leading, leading);
  return {
    ...(isShown && { current: leading.message.messageId }),
    known: new Set([...known, ...(isShown ? heard : [])]),
  };
}

/** What Parley said to the agent itself was never shown in a chat. */
function isSaidWhere({ message }: InboxRow, { route }: InboxRow): boolean {
  const { channel, account, chat, trigger } = message;
  return (
    trigger === undefined &&
    channel === route.channel &&
    account === route.account &&
    chat.id === route.chatId
  );
}
