import type { Stored } from './message-store.ts';
import { parseDiscordMarkdown } from './parse-markdown.ts';
import type { MessageRoute, Sent } from './transcript.ts';
import type { World } from './world.ts';

/** Writes down what the bot sent: where, whom it notified, and what people see of it. */
export function noteSent(
  world: World,
  kind: Sent['kind'],
  route: MessageRoute,
  { message, pings }: Stored,
): void {
  const replyTo = message.message_reference?.message_id;
  world.transcript.sent({
    kind,
    route,
    messageId: message.id,
    content: message.content,
    visible: parseDiscordMarkdown(message.content).visible,
    pings,
    attachments: message.attachments,
    ...(replyTo === undefined ? {} : { replyTo }),
    ...(message.nonce === undefined ? {} : { nonce: message.nonce }),
    message,
  });
}
