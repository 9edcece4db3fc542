import { describe, expect, it } from 'vitest';
import { laneOf } from './lanes.ts';

const message = { message_id: 3, chat: { id: -5, type: 'group' } };

describe('what is taken in order', () => {
  it.each<[string, object, string]>([
    ['a message waits for its chat', { message }, '-5'],
    ['so does an edit', { edited_message: message }, '-5'],
    ['so does a post', { channel_post: message }, '-5'],
    ['so does a pressed button', { callback_query: { id: 'q', message } }, '-5'],
    ['so does a block', { my_chat_member: { chat: { id: -5 } } }, '-5'],
    [
      'a connection to a business account waits for it',
      { business_connection: { id: 'c' } },
      'business c',
    ],
    [
      'so does a message there',
      { business_message: { ...message, business_connection_id: 'c' } },
      'business c',
    ],
    [
      'and a pressed button',
      { callback_query: { id: 'q', message: { ...message, business_connection_id: 'c' } } },
      'business c',
    ],
    ['what has no place waits for nothing', { callback_query: { id: 'q' } }, 'update 8'],
    ['what is strange waits for nothing', { message: 'what?' }, 'update 8'],
    ['what is empty waits for nothing', {}, 'update 8'],
  ])('[D02] %s', (_name, content, lane) => {
    expect(laneOf({ update_id: 8, ...content })).toBe(lane);
  });
});
