import type { Capabilities } from '../channel.ts';
import type { InboundMessage, RuntimeFacts } from '../inbound-message.ts';

/** For tests: the facts of an owner's direct chat on Telegram, to be varied. */
export const EXAMPLE_FACTS: RuntimeFacts = {
  agent: { id: 'main', name: 'Mori' },
  user: { id: 'telegram:42', name: 'Ann Lee' },
  channel: 'telegram',
  account: 'default',
  channelUserId: '42',
  chatType: 'direct',
  messageId: '991',
  mentions: [],
  addressed: true,
  date: '2026-11-21',
  time: '14:05',
  timeZone: 'Europe/Berlin',
  workspace: '/home/ann/.parley/workspace',
  heartbeat: false,
  variables: {},
};

/** For tests: the message that goes with `EXAMPLE_FACTS`. */
export const EXAMPLE_MESSAGE: InboundMessage = {
  channel: 'telegram',
  account: 'default',
  messageId: '991',
  chat: { id: '42', type: 'direct' },
  sender: { id: '42', name: 'Ann Lee', username: 'ann', isBot: false },
  text: 'What is on today?',
  mentions: [],
  addressed: true,
  sentAt: 1_795_270_000_000,
  variables: {},
};

/** For tests: a platform that shows only plain text, in parts of 1,000 characters. */
export const CAPABILITIES: Capabilities = {
  target: { dialect: 'plain', maxLength: 1_000, unit: 'utf16' },
  idempotentSend: false,
  typing: false,
  edit: false,
  delete: false,
  react: false,
  threads: false,
  buttons: false,
  streaming: 'none',
  media: [],
};
