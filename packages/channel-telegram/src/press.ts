import type { InboundMessage } from '@parley/contracts';
import { pressId } from './place.ts';
import { personOf } from './sender.ts';
import { chatOf } from './to-inbound.ts';
import type { WirePress } from './wire-message.ts';

/**
 * A pressed button as if that person had written its data, in the place where the button stands;
 * undefined where there is no place or no data. `now` in ms: a press has no time of its own.
 */
export function pressToInbound(
  { id, from, message, data }: WirePress,
  account: string,
  now: number,
): InboundMessage | undefined {
  if (message === undefined || data === undefined) return undefined;
  const messageId = pressId(message.message_id, id);
  return {
    channel: 'telegram',
    account,
    messageId,
    chat: chatOf(message),
    sender: personOf(from),
    text: data,
    mentions: [],
    addressed: true,
    sentAt: now,
    variables: {},
  };
}
