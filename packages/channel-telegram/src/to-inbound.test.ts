import { InboundMessage } from '@parley/core';
import { describe, expect, it } from 'vitest';
import { toInbound } from './content.ts';
import { WireMessage } from './wire.ts';

const ME = { id: 7, username: 'parley_bot' };
const ANN = { id: 4_503_599_627_370_495, first_name: 'Ann', last_name: 'Lee', username: 'ann' };
const BOT = { id: 1_087_968_824, is_bot: true, first_name: 'Group' };
const NEWS = { id: -1_001_000_000_009, type: 'channel', title: 'News' };
const FORUM = { id: -1_001_234_567_890, type: 'supergroup', title: 'Forum' };

function inbound(fields: object) {
  const message = WireMessage.parse({
    message_id: 9,
    date: 1_700_000_000,
    chat: FORUM,
    from: ANN,
    ...fields,
  });
  return InboundMessage.parse(toInbound(message, 'default', ME));
}

const ME_AND_BOT = { id: 5, type: 'private' };

describe('the inbound message of a Telegram message', () => {
  it('[F01] has chat, sender, text and time', () => {
    expect(inbound({ text: 'hello', chat: { id: 5, type: 'private' } })).toEqual({
      channel: 'telegram',
      account: 'default',
      messageId: '9',
      chat: { id: '5', type: 'direct' },
      sender: { id: '4503599627370495', name: 'Ann Lee', username: 'ann', isBot: false },
      text: 'hello',
      authored: { text: true },
      mentions: [],
      addressed: true,
      sentAt: 1_700_000_000_000,
      variables: {},
    });
  });

  it.each([
    ['blockquote', 'yes', 0, 3, {}],
    ['expandable_blockquote', 'yes\n', 0, 3, {}],
    ['blockquote', 'May I?\nyes', 0, 6, { text: true }],
    ['bold', 'yes', 0, 3, { text: true }],
  ])(
    '[P18] does not attribute quoted text to anyone: %s of %j',
    (type, text, offset, length, authored) => {
      const fields = { text, chat: ME_AND_BOT, entities: [{ type, offset, length }] };
      expect(inbound(fields).authored).toEqual(authored);
    },
  );

  it('treats a topic as a thread, but not a chain of replies outside forums', () => {
    const inTopic = inbound({ text: 'a', message_thread_id: 4, is_topic_message: true });
    expect(inTopic.chat).toEqual({
      id: '-1001234567890',
      type: 'thread',
      title: 'Forum',
      threadId: '4',
    });
    const inReplies = inbound({ text: 'a', message_thread_id: 4 });
    expect(inReplies.chat).toEqual({ id: '-1001234567890', type: 'group', title: 'Forum' });
  });

  it('contains the text of the message replied to, preferring the quoted part over the whole message', () => {
    const answered = { message_id: 3, from: { id: 2, first_name: 'Bob' }, text: 'long text' };
    expect(inbound({ text: 'yes', reply_to_message: answered }).replyTo).toEqual({
      messageId: '3',
      senderId: '2',
      text: 'long text',
    });
    expect(
      inbound({ text: 'yes', reply_to_message: answered, quote: { text: 'long' } }).replyTo?.text,
    ).toBe('long');
  });

  it.each<[string, object]>([
    ['another bot', { text: 'a', from: { ...ANN, is_bot: true } }],
    ['words sent through this bot', { text: 'a', via_bot: { id: 7, is_bot: true } }],
    [
      'a channel that posts automatically',
      { text: 'a', from: BOT, sender_chat: NEWS, is_automatic_forward: true },
    ],
    ['a linked channel', { text: 'a', is_automatic_forward: true }],
    ['a bot that writes for a business account', { text: 'a', sender_business_bot: BOT }],
  ])('[F07] does not count %s as a person', (_name, fields) => {
    expect(inbound(fields).sender.isBot).toBe(true);
  });

  it.each<[string, object, object]>([
    [
      'an anonymous administrator',
      { from: BOT, sender_chat: FORUM },
      { id: '-1001234567890', name: 'Forum' },
    ],
    [
      'an anonymous administrator with a title',
      { from: BOT, sender_chat: FORUM, author_signature: 'Chair' },
      { id: '-1001234567890', name: 'Chair' },
    ],
    [
      'a person who writes as their channel',
      { from: { ...BOT, id: 136_817_688 }, sender_chat: NEWS },
      { id: '-1001000000009', name: 'News' },
    ],
    [
      'the author of a post',
      { chat: NEWS, from: undefined, sender_chat: NEWS },
      { id: '-1001000000009', name: 'News' },
    ],
    [
      'a person who used another bot inside the chat',
      { via_bot: { id: 8, is_bot: true } },
      { id: '4503599627370495' },
    ],
  ])('[F07] counts %s as a person', (_name, fields, sender) => {
    expect(inbound({ text: 'a', ...fields }).sender).toMatchObject({ ...sender, isBot: false });
  });

  it('reads a post in a channel', () => {
    const post = inbound({ text: 'a', chat: NEWS, from: undefined, sender_chat: NEWS });
    expect(post.chat).toEqual({ id: '-1001000000009', type: 'channel', title: 'News' });
  });

  it('treats the general topic as the group itself', () => {
    const general = { text: 'a', message_thread_id: 1, is_topic_message: true };
    expect(inbound(general).chat).toEqual({ id: '-1001234567890', type: 'group', title: 'Forum' });
  });

  it.each<[string, object, string]>([
    ['a person', { sender_user: { id: 2, first_name: 'Bob' } }, 'Bob'],
    ['a person who hides their account', { sender_user_name: 'B.' }, 'B.'],
    ['a group', { sender_chat: FORUM }, 'Forum'],
    ['a channel', { chat: NEWS }, 'News'],
    ['an unknown author', {}, 'somebody'],
  ])('[F09] marks text forwarded from %s, so that it cannot be a command', (_n, origin, name) => {
    const forwarded = inbound({
      text: '/new',
      forward_origin: { type: 'x', date: 1, ...origin },
    });
    expect(forwarded.text).toBe(`[Forwarded from ${name}]\n/new`);
  });

  it('[F10] contains a picture with or without a caption', () => {
    const photo = [{ file_id: 'p', width: 9, height: 9 }];
    const attachments = [{ kind: 'image', ref: 'p', mimeType: 'image/jpeg' }];
    expect(inbound({ photo, caption: 'look' })).toMatchObject({ text: 'look', attachments });
    expect(inbound({ photo })).toMatchObject({ text: '', attachments });
    expect(inbound({ photo, forward_origin: { type: 'x' } })).toMatchObject({
      text: '[Forwarded from somebody]',
      attachments,
    });
  });

  it.each<[string, object, string]>([
    [
      'a story in a private chat',
      { story: {}, chat: ME_AND_BOT },
      '[They sent a story, which cannot be read here.',
    ],
    [
      'an unknown kind of content in a private chat',
      { hologram: {}, chat: ME_AND_BOT },
      '[They sent something, which cannot be read here.',
    ],
    [
      'the same in a group',
      { hologram: {}, chat: { id: -5, type: 'group' } },
      '[They sent something, which cannot be read here.]',
    ],
  ])('[F10] names %s to the agent', (_what, message, start) => {
    const { text } = inbound(message);
    expect(start === '' ? text : text.slice(0, start.length)).toBe(start);
  });

  it('[F01] describes content without text, and names its original author', () => {
    const dice = { emoji: '🎲', value: 4 };
    expect(inbound({ dice, forward_origin: { sender_user_name: 'B.' } }).text).toBe(
      '[Forwarded from B.]\n[🎲 shows 4]',
    );
  });

  it('[F08] contains the album id of a picture', () => {
    expect(inbound({ media_group_id: '1357', caption: 'a' }).albumId).toBe('1357');
  });
});
