import { proto } from '@whiskeysockets/baileys';
import { describe, expect, it } from 'vitest';
import { type Mail, toInbound } from './to-inbound.ts';

const ME = { account: 'default', me: { pn: '491500000009@s.whatsapp.net', lid: '99@lid' } };
const ANN = { pn: '491500000001@s.whatsapp.net', lid: '11@lid' };
const GROUP = '1203@g.us';

function inbound(content: proto.IMessage, more: Partial<Mail> = {}) {
  const mail = { chat: ANN.pn, id: 'A1', from: ANN, name: 'Ann', time: 5, content, ...more };
  return toInbound(mail, ME);
}

describe('a WhatsApp message as the core knows it', () => {
  it('[F01] says who, where, when and what', () => {
    expect(inbound({ conversation: 'hi' })).toEqual({
      channel: 'whatsapp',
      account: 'default',
      messageId: 'A1',
      chat: { id: ANN.pn, type: 'direct' },
      sender: { id: '491500000001', name: 'Ann', username: '11@lid', isBot: false },
      text: 'hi',
      mentions: [],
      addressed: true,
      sentAt: 5000,
      variables: {},
    });
  });

  it('is of one person and one chat, whichever of their names stands on it', () => {
    const byNumber = inbound({ conversation: 'hi' });
    expect(inbound({ conversation: 'hi' }, { chat: ANN.lid })).toEqual(byNumber);
    expect(
      inbound({ conversation: 'hi' }, { chat: ANN.lid, from: { lid: ANN.lid } }),
    ).toMatchObject({
      chat: { id: ANN.lid },
      sender: { id: ANN.lid },
    });
  });

  const text = { extendedTextMessage: { text: 'words' } };
  it.each<[string, proto.IMessage]>([
    ['a plain one', { conversation: 'words' }],
    ['one with more to it', text],
    ['one that disappears', { ephemeralMessage: { message: text } }],
    [
      'one to be seen once',
      { viewOnceMessageV2: { message: { imageMessage: { caption: 'words' } } } },
    ],
    [
      'one to be seen once, wrapped twice',
      { ephemeralMessage: { message: { viewOnceMessage: { message: text } } } },
    ],
    ['a picture', { imageMessage: { caption: 'words' } }],
    ['a film', { videoMessage: { caption: 'words' } }],
    [
      'a file',
      { documentWithCaptionMessage: { message: { documentMessage: { caption: 'words' } } } },
    ],
    ['an edit, wrapped', { editedMessage: { message: text } }],
    ['a button', { buttonsResponseMessage: { selectedDisplayText: 'words' } }],
    ['a list', { listResponseMessage: { title: 'words' } }],
    ['a template', { templateButtonReplyMessage: { selectedDisplayText: 'words' } }],
  ])('has the words of %s', (_, content) => {
    expect(inbound(content)?.text).toBe('words');
  });

  it.each<[string, proto.IMessage, Partial<Mail>]>([
    ['a status', { conversation: 'x' }, { chat: 'status@broadcast' }],
    ['a channel', { conversation: 'x' }, { chat: '1@newsletter' }],
    ['a list', { conversation: 'x' }, { chat: '1@broadcast' }],
    ['our own number', { conversation: 'x' }, { from: { pn: ME.me.pn } }],
    ['our own identity', { conversation: 'x' }, { from: { lid: ME.me.lid }, chat: GROUP }],
    ['nobody', { conversation: 'x' }, { from: {}, chat: GROUP }],
    ['a reaction', { reactionMessage: { text: '👍' } }, {}],
    ['a deletion', { protocolMessage: { type: proto.Message.ProtocolMessage.Type.REVOKE } }, {}],
    ['keys of a group', { senderKeyDistributionMessage: { groupId: GROUP } }, {}],
    ['a picture without words', { imageMessage: {} }, {}],
    ['nothing', {}, {}],
  ])('[F07] is nothing for us from %s', (_, content, more) => {
    expect(inbound(content, more)).toBeUndefined();
  });

  describe('in a group', () => {
    const said = (content: proto.IMessage) => inbound(content, { chat: GROUP, title: 'Friends' });
    const withContext = (contextInfo: proto.IContextInfo) =>
      said({ extendedTextMessage: { text: 'x', contextInfo } });

    it('names the group', () => {
      const chat = { id: GROUP, type: 'group', title: 'Friends' };
      expect(said({ conversation: 'x' })).toMatchObject({ chat, addressed: false });
    });

    it.each([
      ['by number', { mentionedJid: ['491500000009@s.whatsapp.net'] }],
      ['by identity', { mentionedJid: ['99@lid'] }],
      ['with a device', { mentionedJid: ['491500000009:3@s.whatsapp.net'] }],
      ['by an answer to us', { stanzaId: 'B1', participant: '99:2@lid' }],
    ])('[F06] is meant for us when we are named %s', (_, context) => {
      expect(withContext(context)?.addressed).toBe(true);
    });

    it('[F06] is not meant for us when others are named', () => {
      expect(withContext({ mentionedJid: ['11@lid'] })).toMatchObject({
        addressed: false,
        mentions: ['11@lid'],
      });
      expect(withContext({ stanzaId: 'B1', participant: ANN.pn })?.addressed).toBe(false);
      expect(said({ conversation: '/help' })?.addressed).toBe(true);
    });

    it('says what is answered', () => {
      const quotedMessage = { conversation: 'before' };
      expect(withContext({ stanzaId: 'B1', participant: ANN.pn, quotedMessage })?.replyTo).toEqual({
        messageId: 'B1',
        senderId: '491500000001',
        text: 'before',
      });
    });
  });
});
