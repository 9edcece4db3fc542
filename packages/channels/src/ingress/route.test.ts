import { CAPABILITIES, toRunOptions } from '@parley/core/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createMessage } from '../testing/ingress-scene.ts';
import { resolveReplyRoute, toConversationId } from './route.ts';

const { target } = CAPABILITIES;
const style = { mentions: 'dead', numbered: false } as const;

describe('the reply route', () => {
  it('[F11] leads back to a direct chat, without a quotation', () => {
    expect(resolveReplyRoute(createMessage(), CAPABILITIES, style)).toEqual({
      channel: 'telegram',
      account: 'default',
      chatId: '42',
      chatType: 'direct',
      target,
    });
  });

  it.each(['group', 'channel'] as const)('[F11] quotes the question in a %s', (type) => {
    const message = createMessage({ chat: { id: '-1', type }, messageId: '7' });
    expect(resolveReplyRoute(message, CAPABILITIES, style)).toMatchObject({
      chatId: '-1',
      replyToMessageId: '7',
    });
  });

  it('[F11] names a command that waits for its answer, even in a direct chat', () => {
    const message = createMessage({ messageId: '7', response: 'place' });
    const shown = { ...style, acknowledge: '👀' };
    const route = resolveReplyRoute(message, { ...CAPABILITIES, react: true }, shown);
    expect(route).toMatchObject({ replyToMessageId: '7', response: 'place' });
    expect(route.acknowledge).toBeUndefined();
  });

  it('[F11] keeps the thread and the account', () => {
    const chat = { id: '-1', type: 'thread', threadId: '9' } as const;
    const message = createMessage({ chat, account: 'second' });
    expect(resolveReplyRoute(message, CAPABILITIES, style)).toMatchObject({
      threadId: '9',
      account: 'second',
    });
  });

  it('[M05] keeps mentions live and numbers parts only if the settings enable that', () => {
    const { target: told } = resolveReplyRoute(createMessage(), CAPABILITIES, {
      mentions: 'live',
      numbered: true,
    });
    expect(told).toEqual({ ...target, mentions: 'live', numbered: true });
  });
});

describe('the conversation of a message', () => {
  it('[D02] is the same for every message of a chat, whoever wrote it', () => {
    const first = createMessage({ chat: { id: '-1', type: 'group' }, sender: { id: '1' } });
    const second = createMessage({
      chat: { id: '-1', type: 'group' },
      sender: { id: '2' },
      messageId: '9',
    });
    expect(toConversationId(first)).toBe(toConversationId(second));
  });

  it('[W02] is never shared by two chats, whatever their ids contain', () => {
    const id = fc.string({
      minLength: 1,
      maxLength: 12,
      unit: fc.constantFrom(':', 'a', '%', '/', '3', 'A'),
    });
    const place = fc.record({
      channel: id,
      account: id,
      chatId: id,
      threadId: fc.option(id, { nil: undefined }),
    });
    fc.assert(
      fc.property(place, place, (one, two) => {
        const idOf = ({ channel, account, chatId, threadId }: typeof one) => {
          const chat = { id: chatId, ...(threadId === undefined ? {} : { threadId }) };
          return toConversationId(createMessage({ channel, account, chat }));
        };
        expect(idOf(one) === idOf(two)).toBe(JSON.stringify(one) === JSON.stringify(two));
      }),
      toRunOptions(2_000),
    );
  });
});
