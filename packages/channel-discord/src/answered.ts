import { type Logger, reasonOf } from '@parley/core';
import type { DiscordApi } from './api.ts';
import { isReply } from './shown-content.ts';
import type { WireMessage } from './wire-message.ts';

interface AnsweredMessageDeps {
  readonly api: Pick<DiscordApi, 'message'>;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/**
 * How long (ms) a reply waits for its original message. After this time, the reply is admitted
 * without its original message.
 */
const FETCH_WITHIN_MS = 5_000;

/**
 * Adds the original message to a reply. Discord usually sends both messages, but guarantees only
 * the reference. A deleted message is not requested.
 */
export async function addAnsweredMessage(
  message: WireMessage,
  { api, log, signal }: AnsweredMessageDeps,
): Promise<WireMessage> {
  const { channel_id: channelId, message_reference: reference } = message;
  const id = reference?.message_id;
  const isThere = message.referenced_message !== undefined || message.isAnsweredGone;
  if (isThere || id === undefined || !isReply(message)) return message;
  try {
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(FETCH_WITHIN_MS)]);
    return { ...message, referenced_message: await api.message(channelId, id, deadline) };
  } catch (thrown) {
    const reason = reasonOf(thrown);
    log.debug(
      { channelId, messageId: id, reason },
      'the original message of the reply cannot be read',
    );
    return message;
  }
}
