import { describe, expect, it } from 'vitest';
import {
  type BusyMode,
  BusyPolicy,
  type ChatType,
  InboundMessage,
  resolveBusyMode,
  stripInternalFields,
} from './inbound-message.ts';

const valid = {
  channel: 'telegram',
  account: 'default',
  messageId: '7',
  chat: { id: '42', type: 'direct' },
  sender: { id: '42', name: 'Ada', isBot: false },
  text: 'hello',
  addressed: true,
  sentAt: 1_000,
};

describe('an inbound message', () => {
  it('[F01] has neither mentions nor variables by default', () => {
    expect(InboundMessage.parse(valid)).toEqual({ ...valid, mentions: [], variables: {} });
  });

  it.each([
    ['an empty text, as a picture without a caption has', { text: '' }],
    ['a sender without a name', { sender: { ...valid.sender, name: '' } }],
    ['half a surrogate pair and control characters', { text: '\ud83d \u0000' }],
    ['a thread', { chat: { ...valid.chat, type: 'thread', threadId: '9' } }],
    ['an id of 256 characters', { messageId: 'x'.repeat(256) }],
    ['a reply to an unknown person', { replyTo: { messageId: '6' } }],
  ])('[F01] is accepted with %s', (_case, change) => {
    expect(InboundMessage.safeParse({ ...valid, ...change }).success).toBe(true);
  });

  it.each([
    ['an empty message id', { messageId: '' }],
    ['an id of 257 characters', { messageId: 'x'.repeat(257) }],
    ['a number as an id', { chat: { ...valid.chat, id: 42 } }],
    ['an unknown kind of chat', { chat: { ...valid.chat, type: 'forum' } }],
    ['a time that is not an integer', { sentAt: 1.5 }],
    ['a time before 1970', { sentAt: -1 }],
    ['a field of the platform', { update_id: 1 }],
    [
      'a field of the platform in a nested object',
      { sender: { ...valid.sender, is_premium: true } },
    ],
    ['no statement whether the sender is a bot', { sender: { id: '42', name: 'Ada' } }],
    ['variables that are not text', { variables: { n: 1 } }],
  ])('[F01] is refused with %s', (_case, change) => {
    expect(InboundMessage.safeParse({ ...valid, ...change }).success).toBe(false);
  });
});

it.each([
  ['api', 'json'],
  ['web', 'json'],
  ['telegram', undefined],
  ['discord', undefined],
] as const)(
  '[P04] [P18] received from the channel %s keeps the response format %s',
  (channel, kept) => {
    const message = InboundMessage.parse({ ...valid, channel, responseFormat: 'json' });
    expect(stripInternalFields(message).responseFormat).toBe(kept);
  },
);

describe('the busy policy for messages during a turn', () => {
  it.each<[BusyPolicy, ChatType, BusyMode]>([
    ['collect', 'direct', 'collect'],
    ['steer', 'direct', 'steer'],
    ['followup', 'group', 'followup'],
    ['interrupt', 'thread', 'interrupt'],
    [{}, 'direct', 'collect'],
    [{ direct: 'steer' }, 'direct', 'steer'],
    [{ direct: 'steer' }, 'group', 'collect'],
    [{ direct: 'steer', group: 'interrupt' }, 'group', 'interrupt'],
    [{ group: 'followup' }, 'thread', 'collect'],
    [{ thread: 'followup' }, 'thread', 'followup'],
    [{ channel: 'interrupt' }, 'channel', 'interrupt'],
    [{ group: 'steer', channels: { telegram: 'followup' } }, 'group', 'followup'],
    [{ group: 'steer', channels: { telegram: { direct: 'followup' } } }, 'group', 'steer'],
    [{ group: 'steer', channels: { discord: 'followup' } }, 'group', 'steer'],
  ])('[D03] the policy %j in a %s chat results in the mode %s', (policy, chatType, mode) => {
    expect(resolveBusyMode(policy, { channel: 'telegram', chat: { type: chatType } })).toBe(mode);
  });

  it.each(['sometimes', { direct: 'sometimes' }, { chats: 'steer' }, 3])(
    '[D12] refuses the policy %j',
    (value) => {
      expect(BusyPolicy.safeParse(value).success).toBe(false);
    },
  );
});
