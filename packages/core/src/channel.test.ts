import { describe, expect, it } from 'vitest';
import { Capabilities, ReplyRoute } from './channel.ts';
import { CAPABILITIES } from './testing/example-turn.ts';

const target = { dialect: 'telegram', maxLength: 4_096, unit: 'utf16' };
const route = { channel: 'telegram', account: 'default', chatId: '42', target };

describe('the route of an answer', () => {
  it('[F11] is parsed unchanged from the database', () => {
    const full = { ...route, threadId: '9', replyToMessageId: '7' };
    expect(ReplyRoute.parse(JSON.parse(JSON.stringify(full)))).toEqual(full);
  });

  it.each([
    ['no chat', { chatId: undefined }],
    ['a dialect without a printer', { target: { ...target, dialect: 'wml' } }],
    ['parts of no length', { target: { ...target, maxLength: 0 } }],
    ['an unknown field', { chat: '42' }],
  ])('[F11] is refused with %s', (_case, change) => {
    expect(ReplyRoute.safeParse({ ...route, ...change }).success).toBe(false);
  });
});

describe('the capabilities of an adapter', () => {
  it('[F04] include each capability, present or absent', () => {
    expect(Capabilities.parse(CAPABILITIES)).toEqual(CAPABILITIES);
    for (const name of Object.keys(CAPABILITIES)) {
      expect(Capabilities.safeParse({ ...CAPABILITIES, [name]: undefined }).success, name).toBe(
        false,
      );
    }
  });
});
