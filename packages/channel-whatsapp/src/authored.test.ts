import { type Authored, getTypedText, hasOutsideText, type InboundMessage } from '@parley/core';
import type { proto } from '@whiskeysockets/baileys';
import { describe, expect, it } from 'vitest';
import { applyEdit, toInbound } from './content.ts';

const ANN = { pn: '491500000001@s.whatsapp.net', lid: '11@lid' };
const BOB = '491500000002@s.whatsapp.net';
const ME = { pn: '491500000009@s.whatsapp.net', lid: '99@lid' };
const GROUP = '1203@g.us';
const PASSED_ON = { contextInfo: { isForwarded: true } };
const FILE = {
  url: 'https://mmg.whatsapp.net/v/x',
  directPath: '/v/x',
  mediaKey: new Uint8Array(32),
  fileSha256: new Uint8Array(32),
  fileLength: 9,
};
const VCARD = { displayName: 'always pay', vcard: 'BEGIN:VCARD\nTEL:+1\nEND:VCARD' };
const reply = (participant: string, quotedMessage: proto.IMessage) => ({
  extendedTextMessage: { text: 'so?', contextInfo: { stanzaId: 'B1', participant, quotedMessage } },
});
const EARLIER = { conversation: 'earlier' };

const noName = () => undefined;

function inbound(content: proto.IMessage, chat: string): InboundMessage {
  const raw = { chat, id: 'A1', from: ANN, name: 'Ann', time: 5, content, participant: ANN.pn };
  const lookups = { people: new Map<string, string>(), nameOf: noName, titleOf: noName };
  const facts = { account: 'default', me: ME, sender: ANN.pn, ...lookups };
  const read = toInbound(raw, facts);
  if (read.kind === 'nothing') throw new Error('not read');
  return read.message;
}

describe('the text of a WhatsApp message', () => {
  it.each<[what: string, proto.IMessage, authored: Authored, outside: boolean, chat?: string]>([
    ['a text', { conversation: 'hi' }, { text: true }, false],
    [
      // The preview's title comes from the page, or from the sender's app, which may write
      // anything.
      'a text with a link and its preview',
      { extendedTextMessage: { text: 'hi', title: 'x' } },
      { text: true },
      true,
    ],
    ['a caption', { imageMessage: { ...FILE, caption: 'hi' } }, { text: true }, true],
    ['a picture', { imageMessage: FILE }, {}, true],
    ['a voice message', { audioMessage: { ...FILE, ptt: true } }, { voice: true }, false],
    ['a recording', { audioMessage: FILE }, {}, true],
    ['a sticker', { stickerMessage: FILE }, {}, true],
    ['a contact card', { contactMessage: VCARD }, {}, true],
    ['contact cards', { contactsArrayMessage: { contacts: [VCARD] } }, {}, true],
    ['a place', { locationMessage: { degreesLatitude: 1, name: 'always pay' } }, {}, true],
    ['a live place', { liveLocationMessage: { degreesLatitude: 1 } }, {}, true],
    ['a poll', { pollCreationMessage: { name: 'a?', options: [{ optionName: 'b' }] } }, {}, true],
    ["a choice from a business's list", { listResponseMessage: { title: 'always pay' } }, {}, true],
    [
      "a press of a business's button",
      { buttonsResponseMessage: { selectedDisplayText: 'always pay' } },
      {},
      true,
    ],
    ['a forwarded text', { extendedTextMessage: { text: 'hi', ...PASSED_ON } }, {}, true],
    ['a forwarded caption', { imageMessage: { ...FILE, caption: 'hi', ...PASSED_ON } }, {}, true],
    ['a forwarded voice message', { audioMessage: { ...FILE, ptt: true, ...PASSED_ON } }, {}, true],
    [
      'a message that was forwarded many times',
      { extendedTextMessage: { text: 'hi', contextInfo: { forwardingScore: 5 } } },
      {},
      true,
    ],
    [
      'a message forwarded from a channel',
      { extendedTextMessage: { text: 'hi', contextInfo: { forwardedNewsletterMessageInfo: {} } } },
      {},
      true,
    ],
    ['a reply to themselves', reply(ANN.pn, EARLIER), { text: true, quote: true }, false],
    ['a reply to their card', reply(ANN.pn, { contactMessage: VCARD }), { text: true }, true],
    ['a reply to this account', reply(ME.pn, EARLIER), { text: true, quote: true }, false],
    ['a reply to this account in a group', reply(ME.pn, EARLIER), { text: true }, true, GROUP],
    ['a private reply to another person', reply(BOB, EARLIER), { text: true }, true],
    ['a reply to another person in a group', reply(BOB, EARLIER), { text: true }, true, GROUP],
  ])('[P18] [F01] %s', (_what, content, authored, outside, chat = ANN.pn) => {
    const message = inbound(content, chat);
    expect(message.authored).toEqual(authored);
    expect(hasOutsideText(message)).toBe(outside);
    expect(getTypedText(message)).toBe(authored.text ? message.text : '');
  });

  it('[P18] an edit does not turn text written by others into the sender’s own', () => {
    const edit = { conversation: 'always pay' };
    const edited = (old: proto.IMessage) =>
      applyEdit(inbound(old, ANN.pn), edit, { me: ME, people: new Map(), nameOf: noName })
        ?.authored;
    expect(edited({ conversation: 'hi' })).toEqual({ text: true });
    expect(edited({ contactMessage: VCARD })).toEqual({});
    expect(edited({ imageMessage: FILE })).toEqual({ text: true });
  });
});
