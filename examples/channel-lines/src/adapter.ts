import type { ChannelAdapter, ChannelContext } from '@parley/channels';
import type { Capabilities, InboundMessage } from '@parley/core';
import { LinesConnection, type LinesEvent } from './connection.ts';
import type { LinesSettings } from './settings.ts';
import { LinesSends } from './unanswered-sends.ts';

type Message = Extract<LinesEvent, { kind: 'message' }>;

const CAPABILITIES: Capabilities = {
  target: { dialect: 'plain', maxLength: 1_000, unit: 'utf16' },
  idempotentSend: true,
  typing: false,
  edit: false,
  delete: false,
  react: false,
  threads: false,
  buttons: false,
  streaming: 'none',
  media: [],
};

/** Creates the adapter for one account. The adapter does not connect before `start`. */
export function createLinesAdapter(context: ChannelContext<LinesSettings>): ChannelAdapter {
  const { settings, clock, report } = context;
  const sends = new LinesSends();
  let storing: Promise<void> = Promise.resolve();
  const connection = new LinesConnection(settings, {
    opened: () => report({ kind: 'connected', as: settings.name }),
    heard(event) {
      if (event.kind !== 'message') sends.answered(event);
      // Events are handled one at a time, so they stay in order. The server resends any message
      // that could not be stored.
      else storing = storing.then(() => take(event)).catch(() => connection.drop());
    },
    lost(reason, retryMs) {
      sends.lost(reason);
      report({ kind: 'retrying', reason, nextAttemptAt: clock() + retryMs });
    },
  });
  const take = async (message: Message): Promise<void> => {
    await context.receive(toInbound(message, context));
    // Only after the message is stored may the server forget it.
    connection.write({ kind: 'ack', id: message.id });
  };
  return {
    capabilities: CAPABILITIES,
    start: async () => connection.open(),
    async stop() {
      await storing;
      connection.close();
      report({ kind: 'stopped' });
    },
    send: (part, signal) => sends.send(connection, part, signal),
  };
}

function toInbound(
  { id, room, direct, from, text, mentioned, replyTo }: Message,
  { account, settings, clock }: ChannelContext<LinesSettings>,
): InboundMessage {
  return {
    channel: 'lines',
    account,
    messageId: id,
    chat: { id: room, type: direct ? 'direct' : 'group' },
    sender: { id: from, name: from, isBot: from.startsWith('bot-') },
    text,
    // All text here was typed by the sender; the server has no forwards, files or cards.
    authored: { text: true },
    ...(replyTo === undefined
      ? {}
      : { replyTo: { messageId: replyTo.id, senderId: replyTo.from } }),
    mentions: [],
    addressed: direct || mentioned || replyTo?.from === settings.name,
    sentAt: clock(),
    variables: {},
  };
}
