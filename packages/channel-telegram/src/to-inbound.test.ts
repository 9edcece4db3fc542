import { InboundMessage } from '@parley/contracts';
import { describe, expect, it } from 'vitest';
import { toInbound } from './to-inbound.ts';
import { WireMessage } from './wire-message.ts';

const ME = { id: 7, username: 'parley_bot' };
const ANN = { id: 4_503_599_627_370_495, first_name: 'Ann', last_name: 'Lee', username: 'ann' };
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

describe('what the core learns of a Telegram message', () => {
  it('[F01] knows place, person, words and time', () => {
    expect(inbound({ text: 'hello', chat: { id: 5, type: 'private' } })).toEqual({
      channel: 'telegram',
      account: 'default',
      messageId: '9',
      chat: { id: '5', type: 'direct' },
      sender: { id: '4503599627370495', name: 'Ann Lee', username: 'ann', isBot: false },
      text: 'hello',
      mentions: [],
      addressed: true,
      sentAt: 1_700_000_000_000,
      variables: {},
    });
  });

  it('takes a topic for a thread, and a row of replies outside forums for none', () => {
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

  it('tells what is answered: the quoted words before the whole message', () => {
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
    ['a chat without a person', { text: 'a', from: undefined, sender_chat: FORUM }],
    ['a linked channel', { text: 'a', is_automatic_forward: true }],
    ['somebody joining', { new_chat_members: [ANN] }],
    ['a group moving', { migrate_to_chat_id: -100 }],
    ['a new topic', { forum_topic_created: { name: 'T' } }],
  ])('[F07] counts %s as no person', (_name, fields) => {
    expect(inbound(fields).sender.isBot).toBe(true);
  });

  it('has the words below a picture, and none for a picture alone', () => {
    expect(inbound({ photo: [{}], caption: 'look' })).toMatchObject({
      text: 'look',
      sender: { isBot: false },
    });
    expect(inbound({ photo: [{}] })).toMatchObject({ text: '', sender: { isBot: false } });
  });
});
