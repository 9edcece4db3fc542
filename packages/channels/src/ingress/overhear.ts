import type { InboundMessage } from '@parley/contracts';
import type { AdmittedMessage, OverheardRepository } from '@parley/store';

/** Keeps what a group says without addressing the bot, for its next turn (F06). */
export async function overhear(
  overheard: OverheardRepository,
  { conversationId, message, receivedAt }: AdmittedMessage,
): Promise<void> {
  const { channel, account, chat, messageId, sender } = message;
  await overheard.keep(
    { conversationId, channel, account, chatId: chat.id },
    { messageId, senderId: sender.id, senderName: sender.name, text: wordsOf(message) },
    receivedAt,
  );
}

/** Files are named by their kind: whoever refers to "the picture" is understood. */
function wordsOf({ text, attachments = [] }: InboundMessage): string {
  const files = attachments.map(({ kind }) => `[${kind}]`);
  return [text.trim() === '' ? [] : [text], files].flat().join(' ');
}
