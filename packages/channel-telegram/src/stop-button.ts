import type { InboundMessage } from '@parley/core';
import { toChat } from './places.ts';
import { toSender } from './senders.ts';
import type { WireStop } from './wire.ts';

/**
 * Converts a press of the stop button below a growing answer into a `/stop` command from that
 * person in that chat (F09). The command takes the same path as a typed command, so it overtakes
 * waiting messages and needs the same permissions. Two presses on one draft count as one message.
 * `now` is in ms, because the update has no timestamp.
 */
export function stopToInbound(
  { chat, message_thread_id, draft_id }: WireStop,
  account: string,
  now: number,
): InboundMessage {
  return {
    channel: 'telegram',
    account,
    messageId: `stop:${draft_id}`,
    chat: toChat({
      chat,
      message_thread_id,
      is_topic_message: message_thread_id !== undefined,
    }),
    sender: toSender({ ...chat, first_name: chat.first_name ?? '', is_bot: false }),
    text: '/stop',
    authored: { text: true },
    mentions: [],
    addressed: true,
    sentAt: now,
    variables: {},
  };
}
