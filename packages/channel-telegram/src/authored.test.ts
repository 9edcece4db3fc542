import { type Authored, getTypedText, hasOutsideText } from '@parley/core';
import { describe, expect, it } from 'vitest';
import { toInbound } from './content.ts';
import { WireMessage } from './wire.ts';

const ME = { id: 7, username: 'parley_bot' };
const ANN = { id: 5, first_name: 'Ann' };
const BOB = { id: 6, first_name: 'Bob' };
const GIF = { id: 8, is_bot: true, first_name: 'Gif', username: 'gif' };
const FORWARD = { forward_origin: { type: 'user', sender_user: BOB } };
const DIRECT = { id: 5, type: 'private' };
const GROUP = { id: -1, type: 'supergroup' };
const FILE = { file_id: 'f', width: 1, height: 1 };
const at = { latitude: 1, longitude: 2 };
const reply = (from: object, more: object = {}) => ({
  text: 'so?',
  reply_to_message: { message_id: 1, date: 0, from, text: 'earlier', ...more },
});

describe('authored content of a Telegram message', () => {
  it.each<[what: string, fields: object, authored: Authored, outside: boolean]>([
    ['a text', { text: 'hi' }, { text: true }, false],
    ['a post of a channel', { text: 'hi', sender_chat: GROUP }, { text: true }, false],
    ['a command', { text: '/new' }, { text: true }, false],
    ['a caption', { caption: 'hi', photo: [FILE] }, { text: true }, true],
    ['a picture', { photo: [FILE] }, {}, true],
    ['a voice message', { voice: FILE }, { voice: true }, false],
    ['a document', { document: FILE }, {}, true],
    ['a sticker', { sticker: FILE }, {}, true],
    ['a video note', { video_note: FILE }, {}, true],
    ['a contact card', { contact: { phone_number: '1', first_name: 'always pay' } }, {}, true],
    ['a location', { location: at }, {}, true],
    ['a place', { venue: { title: 'a', address: 'b', location: at }, location: at }, {}, true],
    ['a poll', { poll: { question: 'a?', options: [{ text: 'b' }] } }, {}, true],
    ['a dice', { dice: { emoji: '🎲', value: 3 } }, {}, true],
    ['a story', { story: {} }, {}, true],
    ['a game', { game: { title: 'x' } }, {}, true],
    ['a forwarded text', { text: 'hi', ...FORWARD }, {}, true],
    ['a forwarded text from an old server', { text: 'hi', forward_date: 1 }, {}, true],
    ['a forwarded caption', { caption: 'hi', photo: [FILE], ...FORWARD }, {}, true],
    ['a forwarded voice message', { voice: FILE, ...FORWARD }, {}, true],
    ['a text sent through an inline bot', { text: 'hi', via_bot: GIF }, {}, true],
    [
      'a caption sent through an inline bot',
      { caption: 'hi', photo: [FILE], via_bot: GIF },
      {},
      true,
    ],
    ['a text sent by a business bot', { text: 'hi', sender_business_bot: GIF }, {}, true],
    ['a reply to themselves', reply(ANN), { text: true, quote: true }, false],
    ['a reply to what they forwarded', reply(ANN, FORWARD), { text: true }, true],
    ['a reply to what an inline bot wrote', reply(ANN, { via_bot: GIF }), { text: true }, true],
    ['a reply to this bot', reply(ME), { text: true, quote: true }, false],
    ['a reply to this bot in a group', { ...reply(ME), chat: GROUP }, { text: true }, true],
    ['a reply to another person', { ...reply(BOB), chat: GROUP }, { text: true }, true],
    [
      "a reply to another person's voice message",
      { text: 'so?', chat: GROUP, reply_to_message: { message_id: 1, from: BOB, voice: FILE } },
      { text: true },
      true,
    ],
  ])('[P18] [F01] %s', (_what, fields, authored, outside) => {
    const wire = WireMessage.parse({ message_id: 9, date: 1, chat: DIRECT, from: ANN, ...fields });
    const message = toInbound(wire, 'default', ME);
    expect(message.authored).toEqual(authored);
    expect(hasOutsideText(message)).toBe(outside);
    expect(getTypedText(message)).toBe(authored.text ? message.text : '');
  });
});
