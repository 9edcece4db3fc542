import { describe, expect, it } from 'vitest';
import { formatContextMessage } from './context-text.ts';

const poll = { text: 'Poll: When?' };
const answered = { messageId: '1', text: 'shall we go?' };
const picture = { kind: 'image', ref: 'x' } as const;

describe('a group message as the group’s next turn reads it', () => {
  it.each([
    ['its words', { text: 'yes' }, 'yes'],
    ['a file by its kind', { text: '', attachments: [picture] }, '[image]'],
    [
      'a file by its name',
      { text: 'see', attachments: [{ ...picture, name: 'a.png' }] },
      'see [image: a.png]',
    ],
    [
      'the message it answers',
      { text: 'yes', replyTo: answered },
      'yes [Replies to: shall we go?]',
    ],
    ['an answered message without text', { text: 'yes', replyTo: { messageId: '1' } }, 'yes'],
    ['its quotation', { text: 'vote', quotation: poll }, 'vote [Quotes: Poll: When?]'],
    [
      'the author of its quotation',
      { text: 'no', quotation: { ...poll, from: 'Ben' } },
      'no [Quotes Ben: Poll: When?]',
    ],
    ['nothing where it says nothing', { text: ' ', replyTo: answered }, ''],
  ])('[F06] [F16] is formatted as %s', (_what, message, text) => {
    expect(formatContextMessage(message)).toBe(text);
  });

  it('[P10] states the length of an answered message that was truncated', () => {
    const long = { messageId: '1', text: 'a'.repeat(201) };
    expect(formatContextMessage({ text: 'yes', replyTo: long })).toBe(
      `yes [Replies to: ${'a'.repeat(200)}… [cut: 200 of 201 characters]]`,
    );
  });
});
