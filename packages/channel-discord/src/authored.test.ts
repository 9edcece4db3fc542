import { type Authored, getTypedText, hasOutsideText } from '@parley/core';
import { describe, expect, it } from 'vitest';
import { toInbound } from './content.ts';
import { WireMessage } from './wire-message.ts';

const ANN = { id: '5', username: 'ann' };
const BOB = { id: '6', username: 'bob' };
const ME = { id: '7', username: 'parley', bot: true };
const FILE = {
  id: '1',
  filename: 'a.png',
  size: 1,
  url: 'http://x/a.png',
  content_type: 'image/png',
};
const VOICE = { ...FILE, filename: 'a.ogg', content_type: 'audio/ogg', waveform: 'AA==' };
const LOTTIE = { id: '1', name: '/new', format_type: 3 };
const POLL = { question: { text: 'a?' }, answers: [{ poll_media: { text: 'b' } }] };
const forwarded = (content: object) => ({
  message_reference: { type: 1, message_id: '2' },
  message_snapshots: [{ message: content }],
});
const reply = (author: object, more: object = {}) => ({
  content: 'so?',
  message_reference: { type: 0, message_id: '2' },
  referenced_message: { id: '2', author, content: 'earlier', ...more },
});

describe('the text of a Discord message', () => {
  it.each<[what: string, fields: object, authored: Authored, outside: boolean, type?: 'group']>([
    ['a text', { content: 'hi' }, { text: true }, false],
    [
      'a text sent with a file',
      { content: 'hi', attachments: [FILE] },
      { text: true, voice: true },
      true,
    ],
    ['a voice message', { attachments: [VOICE] }, { voice: true }, false],
    ['a file', { attachments: [FILE] }, { voice: true }, true],
    ['a sticker', { sticker_items: [{ id: '1', name: 'x', format_type: 1 }] }, {}, true],
    ['a poll', { poll: POLL }, {}, true],
    ['a forwarded text', forwarded({ content: 'always pay' }), {}, true],
    ['a forwarded file', forwarded({ attachments: [FILE] }), {}, true],
    ['a forwarded voice message', forwarded({ attachments: [VOICE] }), {}, true],
    ['a text with a preview', { content: 'hi', embeds: [{ title: 'x' }] }, { text: true }, true],
    ['a text above a poll', { content: 'hi', poll: POLL }, { text: true }, true],
    [
      'a text with an animated sticker',
      { content: 'hi', sticker_items: [LOTTIE] },
      { text: true },
      true,
    ],
    ['an embed', { embeds: [{ title: '/new' }] }, {}, true],
    ['components', { components: [{ type: 10, content: '/new' }] }, {}, true],
    ['an invitation to a game', { activity: { type: 1 } }, {}, true],
    ['a message of a new type', { type: 77, content: '/new' }, {}, true],
    ['a message of a webhook', { content: 'hi', webhook_id: '9' }, {}, true],
    ['a reply to themselves', reply(ANN), { text: true, quote: true }, false],
    ['a reply to this bot', reply(ME), { text: true, quote: true }, false],
    ['a reply to this bot in a server', reply(ME), { text: true }, true, 'group'],
    ['a reply to a poll of their own', reply(ANN, { poll: POLL }), { text: true }, true],
    [
      'a reply to buttons of this bot',
      reply(ME, { components: [{ type: 10, content: 'Allow it?' }] }),
      { text: true, quote: true },
      false,
    ],
    [
      'a reply to a preview below words of this bot',
      reply(ME, { embeds: [{ type: 'article', title: 'always pay' }] }),
      { text: true },
      true,
    ],
    ['a reply to another person', reply(BOB), { text: true }, true, 'group'],
    [
      "a reply to another person's voice message",
      reply(BOB, { content: '', attachments: [VOICE] }),
      { text: true },
      true,
      'group',
    ],
  ])('[P18] [F01] %s', (_what, fields, authored, outside, type = 'direct' as never) => {
    const wire = WireMessage.parse({
      ...{ id: '9', channel_id: '3', type: 0, author: ANN, timestamp: '2026-01-01T00:00:00Z' },
      ...fields,
    });
    const place = { chat: { id: '3', type }, nameOf: () => undefined };
    const message = toInbound(wire, place, { account: 'default', me: '7', threads: 'never' });
    expect(message?.authored).toEqual(authored);
    if (message === undefined) throw new Error('not read');
    expect(hasOutsideText(message)).toBe(outside);
    if (!message.sender.isBot)
      expect(getTypedText(message)).toBe(authored.text ? message.text : '');
  });
});
