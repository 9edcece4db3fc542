import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type ChatLocation,
  formatMessageId,
  parseThreadId,
  toRequestFields,
  toThreadId,
} from './places.ts';

const topic = fc.integer({ min: 1, max: 2 ** 40 }).map(String);
const id = fc.string({ minLength: 1, maxLength: 60 });
const place: fc.Arbitrary<ChatLocation> = fc.oneof(
  fc.constant({ kind: 'chat' } as const),
  topic.map((one) => ({ kind: 'topic', topic: one }) as const),
  topic.map((one) => ({ kind: 'subscriber', topic: one }) as const),
  id.map((connection) => ({ kind: 'business', connection }) as const),
  id.map((query) => ({ kind: 'guest', query }) as const),
);

describe('the place of a message inside a Telegram chat', () => {
  it('[F17] is parsed back to the original value for any ids', () => {
    fc.assert(
      fc.property(place, (one) => {
        expect(parseThreadId(toThreadId(one))).toEqual(one);
      }),
    );
  });

  it('[F17] has a separate name and separate message ids', () => {
    const isSame = (one: ChatLocation, other: ChatLocation) =>
      JSON.stringify(one) === JSON.stringify(other);
    fc.assert(
      fc.property(place, place, (one, other) => {
        fc.pre(!isSame(one, other));
        expect(toThreadId(one)).not.toBe(toThreadId(other));
        const ids = [one, other].map((each) => formatMessageId(toThreadId(each), 5));
        const isElsewhere = [one, other].some(({ kind }) => /business|guest/.test(kind));
        if (isElsewhere) expect(ids[0]).not.toBe(ids[1]);
      }),
    );
  });

  it.each<[string, ChatLocation, object]>([
    ['the chat itself', { kind: 'chat' }, {}],
    ['a topic', { kind: 'topic', topic: '7' }, { message_thread_id: 7 }],
    ['a topic with the number 1', { kind: 'topic', topic: '1' }, { message_thread_id: 1 }],
    ['a subscriber', { kind: 'subscriber', topic: '7' }, { direct_messages_topic_id: 7 }],
    [
      'a business account',
      { kind: 'business', connection: 'c:1' },
      { business_connection_id: 'c:1' },
    ],
  ])("[F17] is addressed with the Bot API's fields: %s", (_name, one, fields) => {
    expect(toRequestFields(toThreadId(one))).toEqual(fields);
  });

  it('[F17] recognizes a topic stored by version 0.1.0 as the same topic', () => {
    expect(parseThreadId('7')).toEqual({ kind: 'topic', topic: '7' });
    expect(toThreadId({ kind: 'topic', topic: '7' })).toBe('7');
    expect(parseThreadId('1')).toEqual({ kind: 'chat' });
  });
});
