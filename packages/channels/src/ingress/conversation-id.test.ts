import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { aMessage } from '../testing/a-message.ts';
import { conversationIdOf } from './conversation-id.ts';

describe('the conversation of a message', () => {
  it('[D02] is the same for every message of a chat, whoever wrote it', () => {
    const first = aMessage({ chat: { id: '-1', type: 'group' }, sender: { id: '1' } });
    const second = aMessage({
      chat: { id: '-1', type: 'group' },
      sender: { id: '2' },
      messageId: '9',
    });
    expect(conversationIdOf(first)).toBe(conversationIdOf(second));
  });

  it('[W02] is never shared by two places, whatever their ids contain', () => {
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
          return conversationIdOf(aMessage({ channel, account, chat }));
        };
        expect(idOf(one) === idOf(two)).toBe(JSON.stringify(one) === JSON.stringify(two));
      }),
      { numRuns: 2_000 },
    );
  });
});
