import type { InboundMessage } from '@parley/core';
import { toChat } from './places.ts';
import { toSender } from './senders.ts';
import type { WireStop } from './wire.ts';

/**
 * The stop button of a growing answer, as the `/stop` of its person in that chat (F09): it takes the same way, so it
 * overtakes what waits and has the same rights. Pressed twice on one draft it is one message. `now` in ms: the update
 * has no time of its own.
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
