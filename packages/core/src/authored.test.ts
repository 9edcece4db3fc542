import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canBeCommand, getTypedText, hasOutsideText } from './authored.ts';
import type { Attachment, Authored, InboundMessage } from './inbound-message.ts';

type Told = Pick<InboundMessage, 'text' | 'attachments' | 'replyTo' | 'quotation' | 'authored'>;

const VOICE: Attachment[] = [{ kind: 'voice', ref: 'r' }];
const PICTURE: Attachment[] = [{ kind: 'image', ref: 'r' }];
const REPLY = { messageId: '1', senderId: '2', text: 'quoted' };

describe('the authorship of a message', () => {
  it.each<[what: string, Told, typed: string, outside: boolean]>([
    ['typed text', { text: 'hello', authored: { text: true } }, 'hello', false],
    ['text of an inline bot', { text: 'hello', authored: {} }, '', true],
    [
      'a caption below a picture',
      { text: 'look', attachments: PICTURE, authored: { text: true } },
      'look',
      true,
    ],
    ['their own voice', { text: '', attachments: VOICE, authored: { voice: true } }, '', false],
    [
      'a voice recording of another person',
      { text: '', attachments: VOICE, authored: {} },
      '',
      true,
    ],
    [
      'a quotation of another person',
      { text: 'so?', replyTo: REPLY, authored: { text: true } },
      'so?',
      true,
    ],
    [
      'a quotation of their own text',
      { text: 'so?', replyTo: REPLY, authored: { text: true, quote: true } },
      'so?',
      false,
    ],
    [
      'typed text in brackets',
      { text: '[Contact: me]', authored: { text: true } },
      '[Contact: me]',
      false,
    ],
    ['[old] plain text', { text: 'hello' }, 'hello', false],
    ['[old] a reply without a text', { text: 'yes', replyTo: { messageId: '1' } }, 'yes', false],
    ['[old] a contact card', { text: '[Contact: Bob, +1]' }, '', true],
    ['[old] a place', { text: '[Place: x, y (1, 2)]' }, '', true],
    ['[old] a poll of Discord', { text: 'Poll: who?\n- me' }, '', true],
    ['[old] a forwarded message', { text: '[Forwarded from Bob]\nhello' }, '', true],
    ['[old] a caption', { text: 'look', attachments: PICTURE }, '', true],
    ['[old] a voice recording', { text: '', attachments: VOICE }, '', true],
    ['[old] a quotation', { text: 'so?', replyTo: REPLY }, '', true],
    [
      'a quotation of another chat',
      { text: 'so?', quotation: { text: 'do it' }, authored: { text: true, quote: true } },
      'so?',
      true,
    ],
  ])(
    '[P18] [W09] decides whether the text counts as typed: %s',
    (_what, message, typed, outside) => {
      expect(getTypedText(message)).toBe(typed);
      expect(hasOutsideText(message)).toBe(outside);
    },
  );

  it('[P18] text that the adapter does not attribute never counts as typed', () => {
    const stated = fc.record<Authored>(
      { text: fc.constant(true), voice: fc.constant(true), quote: fc.constant(true) },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.string(), stated, (text, authored) => {
        const message = { text, authored };
        expect(getTypedText(message)).toBe(authored.text === true ? text : '');
        expect(hasOutsideText(message)).toBe(text !== '' && authored.text !== true);
        expect(canBeCommand(message)).toBe(authored.text === true);
      }),
    );
  });

  it('[P18] text that Parley or a bot wrote never counts as typed', () => {
    const sender = { id: '1', name: 'x', isBot: true };
    expect(getTypedText({ text: 'hi', authored: { text: true }, sender })).toBe('');
    expect(getTypedText({ text: 'hi', authored: { text: true }, trigger: 'cron' })).toBe('');
  });
});
