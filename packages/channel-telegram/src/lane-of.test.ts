import { describe, expect, it } from 'vitest';
import { getUpdateLane } from './lanes.ts';

const message = { message_id: 3, chat: { id: -5, type: 'group' } };

describe('the lane assigned to an update', () => {
  it.each<[string, object, string]>([
    ['a message waits for its chat', { message }, '-5'],
    ['an edit waits for its chat', { edited_message: message }, '-5'],
    ['a post waits for its chat', { channel_post: message }, '-5'],
    ['a pressed button waits for its chat', { callback_query: { id: 'q', message } }, '-5'],
    ['a block of the bot waits for its chat', { my_chat_member: { chat: { id: -5 } } }, '-5'],
    [
      'a business connection waits for its account',
      { business_connection: { id: 'c' } },
      'business c',
    ],
    [
      'a business message waits for its account',
      { business_message: { ...message, business_connection_id: 'c' } },
      'business c',
    ],
    [
      'a pressed button in a business chat waits for its account',
      { callback_query: { id: 'q', message: { ...message, business_connection_id: 'c' } } },
      'business c',
    ],
    ['an update without a chat waits for nothing', { callback_query: { id: 'q' } }, 'update 8'],
    ['a malformed update waits for nothing', { message: 'what?' }, 'update 8'],
    ['an empty update waits for nothing', {}, 'update 8'],
  ])('[D02] %s', (_name, content, lane) => {
    expect(getUpdateLane({ update_id: 8, ...content })).toBe(lane);
  });
});
