import { proto } from '@whiskeysockets/baileys';
import { describe, expect, it } from 'vitest';
import {
  applyEdit,
  isIncomingMessage,
  listPeople,
  parseChatChange,
  type RawMessage,
  toInbound,
  toReaction,
} from './content.ts';

const ME = { account: 'default', me: { pn: '491500000009@s.whatsapp.net', lid: '99@lid' } };
const ANN = { pn: '491500000001@s.whatsapp.net', lid: '11@lid' };
const GROUP = '1203@g.us';

function inbound(content: proto.IMessage, more: Partial<RawMessage> = {}, title?: string) {
  const message = { chat: ANN.pn, id: 'A1', from: ANN, name: 'Ann', time: 5, content, ...more };
  const { pn, lid } = message.from;
  const sender = pn ?? lid;
  if (!isIncomingMessage(message, ME.me) || sender === undefined) return undefined;
  const people = new Map(listPeople(message).map((jid) => [jid, jid === ANN.lid ? ANN.pn : jid]));
  const commands = [{ name: 'plan_trip', summary: 'Plans a trip.' }];
  const read = toInbound(message, { ...ME, sender, title, people, commands, ...LOOKUPS });
  return read.kind === 'message' ? read.message : undefined;
}

const LOOKUPS = { nameOf: () => undefined, titleOf: () => undefined };
const KEYS = { mediaKey: Buffer.from('k'), fileSha256: Buffer.from('h'), directPath: '/v' };

function reacted(content: proto.IMessage, more: Partial<RawMessage> = {}) {
  const message = { chat: ANN.pn, id: 'A1', from: ANN, name: 'Ann', time: 5, content, ...more };
  return toReaction(message, { ...ME, sender: ANN.pn });
}

/** All variants of a document in which a single field, at any depth, is null or missing. */
function* without(document: object): Generator<object> {
  for (const [name, value] of Object.entries(document)) {
    const { [name]: _, ...rest } = Object(document);
    yield rest;
    // List items are never null in WhatsApp's messages.
    if (!/^\d/.test(name)) yield { ...document, [name]: null };
    if (typeof value !== 'object' || value === null || value instanceof Uint8Array) continue;
    for (const less of without(value))
      yield { ...document, [name]: Array.isArray(value) ? Object.values(less) : less };
  }
}

describe('the inbound message of a WhatsApp message', () => {
  it('[D12] can be read even if any of its fields is null or absent', () => {
    const contextInfo = {
      stanzaId: 'B1',
      participant: ANN.pn,
      mentionedJid: [ME.me.pn],
      isForwarded: true,
      quotedMessage: { extendedTextMessage: { text: 'before' } },
    };
    const key = Buffer.from('key');
    const file = { url: 'https://mmg.whatsapp.net/a', directPath: '/a', mimetype: 'a/b' };
    const image = { ...file, mediaKey: key, fileSha256: key, fileLength: 5, caption: 'see' };
    const contents: proto.IMessage[] = [
      { extendedTextMessage: { text: 'words', contextInfo } },
      { ephemeralMessage: { message: { imageMessage: { ...image, contextInfo } } } },
      { documentMessage: { ...image, fileName: 'a.txt' } },
      { locationMessage: { degreesLatitude: 1, degreesLongitude: 2, name: 'here' } },
      { contactsArrayMessage: { contacts: [{ displayName: 'Ben', vcard: 'TEL:1' }] } },
      { pollCreationMessageV3: { name: 'when?', options: [{ optionName: 'now' }] } },
      { liveLocationMessage: { degreesLatitude: 1, degreesLongitude: 2, caption: 'here' } },
      { contactMessage: { displayName: 'Ben', vcard: 'EMAIL:b@example.org', contextInfo } },
      { videoMessage: { ...image, contextInfo } },
      { ptvMessage: { ...image, seconds: 1 } },
      { audioMessage: { ...file, mediaKey: key, fileSha256: key, ptt: true, contextInfo } },
      { stickerMessage: { ...file, mediaKey: key, fileSha256: key, contextInfo } },
      { buttonsResponseMessage: { selectedDisplayText: 'a', selectedButtonId: 'b', contextInfo } },
      {
        listResponseMessage: { title: 'a', singleSelectReply: { selectedRowId: 'b' }, contextInfo },
      },
      { templateButtonReplyMessage: { selectedDisplayText: 'a', selectedId: 'b', contextInfo } },
      {
        interactiveResponseMessage: {
          ...{ body: { text: 'a' }, contextInfo },
          nativeFlowResponseMessage: { name: 'b', paramsJson: '{"id":"c"}' },
        },
      },
      { reactionMessage: { key: { id: 'A1' }, text: '👍', senderTimestampMs: 5 } },
      { protocolMessage: { key: { id: 'A1' }, editedMessage: { conversation: 'words' } } },
      {
        messageContextInfo: { messageAssociation: { parentMessageKey: { id: 'C1' } } },
        conversation: 'words',
      },
    ];
    for (const content of contents) {
      for (const less of without(content))
        for (const chat of [ANN.pn, GROUP]) {
          expect(() => inbound(less, { chat })).not.toThrow();
          expect(() => reacted(less, { chat })).not.toThrow();
          expect(() => parseChatChange(less)).not.toThrow();
        }
    }
  });

  it.each<[string, proto.Message.IReactionMessage, string[], number]>([
    ['👍', { text: '👍', senderTimestampMs: 1_234 }, ['👍'], 5_234],
    ['taken back', { text: '', senderTimestampMs: 1_999 }, [], 5_999],
    ['without a time', { text: '👍' }, ['👍'], 5_000],
  ])('[F06] becomes a reaction: %s', (_, reaction, emojis, sentAt) => {
    const key = { id: 'B1', remoteJid: GROUP, fromMe: true };
    expect(reacted({ reactionMessage: { key, ...reaction } }, { chat: GROUP })).toEqual({
      ...{ channel: 'whatsapp', account: 'default', chat: { id: GROUP, type: 'group' } },
      sender: { id: '491500000001', name: 'Ann', username: '11@lid', isBot: false },
      ...{ messageId: 'B1', emojis, sentAt },
    });
    expect(reacted({ reactionMessage: reaction })).toBeUndefined();
  });

  it('[F01] contains the sender, chat, time and text', () => {
    expect(inbound({ conversation: 'hi' })).toEqual({
      channel: 'whatsapp',
      account: 'default',
      messageId: 'A1',
      chat: { id: ANN.pn, type: 'direct' },
      sender: { id: '491500000001', name: 'Ann', username: '11@lid', isBot: false },
      text: 'hi',
      authored: { text: true },
      mentions: [],
      addressed: true,
      sentAt: 5000,
      variables: {},
    });
  });

  it('contains the same person and chat for each id that the message may have', () => {
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
    ['a text with a context', text],
    ['a disappearing message', { ephemeralMessage: { message: text } }],
    [
      'a view-once message',
      { viewOnceMessageV2: { message: { imageMessage: { ...KEYS, caption: 'words' } } } },
    ],
    [
      'a view-once message wrapped twice',
      { ephemeralMessage: { message: { viewOnceMessage: { message: text } } } },
    ],
    ['a picture', { imageMessage: { ...KEYS, caption: 'words' } }],
    ['a film', { videoMessage: { ...KEYS, caption: 'words' } }],
    [
      'a file',
      {
        documentWithCaptionMessage: {
          message: { documentMessage: { ...KEYS, caption: 'words' } },
        },
      },
    ],
    ['a wrapped edit', { editedMessage: { message: text } }],
    ['a button', { buttonsResponseMessage: { selectedDisplayText: 'words' } }],
    ['a button without a text', { buttonsResponseMessage: { selectedButtonId: 'words' } }],
    ['a list', { listResponseMessage: { title: 'words' } }],
    ['its row', { listResponseMessage: { singleSelectReply: { selectedRowId: 'words' } } }],
    ['a template', { templateButtonReplyMessage: { selectedDisplayText: 'words' } }],
    ['a template without a text', { templateButtonReplyMessage: { selectedId: 'words' } }],
    ['an interactive answer', { interactiveResponseMessage: { body: { text: 'words' } } }],
    [
      'an interactive answer without a text',
      {
        interactiveResponseMessage: { nativeFlowResponseMessage: { paramsJson: '{"id":"words"}' } },
      },
    ],
  ])('contains the text of %s', (_, content) => {
    expect(inbound(content)?.text).toBe('words');
  });

  it.each<[string, proto.IMessage, Partial<RawMessage>]>([
    ['a status', { conversation: 'x' }, { chat: 'status@broadcast' }],
    ['a channel', { conversation: 'x' }, { chat: '1@newsletter' }],
    ['a list', { conversation: 'x' }, { chat: '1@broadcast' }],
    ['our own number', { conversation: 'x' }, { from: { pn: ME.me.pn } }],
    ['our own identity', { conversation: 'x' }, { from: { lid: ME.me.lid }, chat: GROUP }],
    ['nobody', { conversation: 'x' }, { from: {}, chat: GROUP }],
    ['a reaction', { reactionMessage: { text: '👍' } }, {}],
    ['a deletion', { protocolMessage: { type: proto.Message.ProtocolMessage.Type.REVOKE } }, {}],
    ['keys of a group', { senderKeyDistributionMessage: { groupId: GROUP } }, {}],
    ['nothing', {}, {}],
  ])('[F07] is undefined for %s', (_, content, more) => {
    expect(inbound(content, more)).toBeUndefined();
  });

  describe('a message in a group', () => {
    const said = (content: proto.IMessage) => inbound(content, { chat: GROUP }, 'Friends');
    const withContext = (contextInfo: proto.IContextInfo) =>
      said({ extendedTextMessage: { text: 'x', contextInfo } });

    it('contains the title of the group', () => {
      const chat = { id: GROUP, type: 'group', title: 'Friends' };
      expect(said({ conversation: 'x' })).toMatchObject({ chat, addressed: false });
    });

    it.each([
      ['by number', { mentionedJid: ['491500000009@s.whatsapp.net'] }],
      ['by identity', { mentionedJid: ['99@lid'] }],
      ['with a device', { mentionedJid: ['491500000009:3@s.whatsapp.net'] }],
      ['by an answer to us', { stanzaId: 'B1', participant: '99:2@lid' }],
    ])('[F06] is addressed to the account if it is named %s', (_, context) => {
      expect(withContext(context)?.addressed).toBe(true);
    });

    it.each([
      ['/plan_trip Rome', true],
      ['/dance', false],
    ])(
      '[F06] [S08] is addressed to the account with the command of a skill: %s',
      (words, addressed) => {
        const message = inbound({ conversation: words }, { chat: GROUP });
        expect(message?.addressed).toBe(addressed);
      },
    );

    it('[F09] [G13] marks forwarded text, so that it is not treated as a command', () => {
      const forwarded = { text: '/new', contextInfo: { isForwarded: true } };
      const message = said({ extendedTextMessage: forwarded });
      expect(message).toMatchObject({ text: '[Forwarded]\n/new', addressed: false });
    });

    it('[F06] is not addressed to the account if other people are mentioned', () => {
      expect(withContext({ mentionedJid: ['11@lid'] })).toMatchObject({
        addressed: false,
        mentions: ['491500000001'],
      });
      expect(withContext({ stanzaId: 'B1', participant: ANN.pn })?.addressed).toBe(false);
      expect(said({ conversation: '/help' })?.addressed).toBe(true);
    });

    it('contains the message to which it replies', () => {
      const quotedMessage = { conversation: 'before' };
      expect(withContext({ stanzaId: 'B1', participant: ANN.pn, quotedMessage })?.replyTo).toEqual({
        messageId: 'B1',
        senderId: '491500000001',
        text: 'before',
      });
    });
  });

  describe('a message with a file', () => {
    const bytes = (text: string) => Buffer.from(text);
    const file = {
      url: 'https://mmg.whatsapp.net/v/old.enc',
      directPath: '/v/1.enc?ccb=1',
      mediaKey: bytes('key'),
      fileSha256: bytes('hash'),
      fileLength: 12,
      mimetype: 'x/y',
    };
    const refOf = (message: ReturnType<typeof inbound>) =>
      JSON.parse(message?.attachments?.[0]?.ref ?? 'null');

    it.each<[string, proto.IMessage]>([
      ['image', { imageMessage: file }],
      ['video', { videoMessage: file }],
      ['video', { ptvMessage: file }],
      ['audio', { audioMessage: file }],
      ['voice', { audioMessage: { ...file, ptt: true } }],
      ['document', { documentMessage: file }],
      ['sticker', { stickerMessage: file }],
      ['image', { viewOnceMessageV2: { message: { imageMessage: file } } }],
    ])('[F10] attaches a %s', (kind, content) => {
      const message = inbound(content);
      expect(message).toMatchObject({
        text: '',
        attachments: [{ kind, mimeType: 'x/y', size: 12 }],
      });
      expect(refOf(message)).toMatchObject({
        address: 'https://mmg.whatsapp.net/v/1.enc?ccb=1',
        chat: ANN.pn,
        id: 'A1',
      });
    });

    it('[F10] contains the text and the file together, with the file name', () => {
      const documentMessage = { ...file, caption: 'read', fileName: `../${'n'.repeat(400)}` };
      const message = inbound({ documentWithCaptionMessage: { message: { documentMessage } } });
      expect(message?.text).toBe('read');
      expect(message?.attachments?.[0]?.name).toHaveLength(255);
    });

    it('[F10] keeps the host in the reference, so that it can be checked before a download', () => {
      const url = 'http://10.0.0.1:8080/x';
      expect(refOf(inbound({ imageMessage: { ...file, url, directPath: null } }))).toMatchObject({
        address: url,
      });
      expect(refOf(inbound({ imageMessage: { ...file, url: 'nonsense' } })).address).toContain(
        'https://mmg.whatsapp.net/',
      );
    });

    it.each<[string, proto.Message.IImageMessage]>([
      ['no key', { ...file, mediaKey: null }],
      ['no hash', { ...file, fileSha256: bytes('') }],
      ['no address', { ...file, url: null, directPath: null }],
      ['an overlong address', { ...file, directPath: `/${'a'.repeat(5_000)}` }],
    ])(
      '[F10] [F16] names a file with %s without attaching it, and keeps its text',
      (_, imageMessage) => {
        const named = '[They sent a picture, which cannot be read here.';
        expect(inbound({ imageMessage })?.text).toContain(named);
        const message = inbound({ imageMessage: { ...imageMessage, caption: 'see' } });
        expect(message?.text).toContain(`see\n${named}`);
        expect(message?.authored).toEqual({});
        expect(message?.attachments).toBeUndefined();
      },
    );

    it('[F08] contains the id of its album, and leaves out a second copy of a picture', () => {
      const { AssociationType } = proto.MessageAssociation;
      const of = (associationType: number) => ({
        imageMessage: file,
        messageContextInfo: {
          messageAssociation: { associationType, parentMessageKey: { id: 'ALBUM' } },
        },
      });
      expect(inbound(of(AssociationType.MEDIA_ALBUM))?.albumId).toBe('ALBUM');
      expect(inbound(of(AssociationType.HD_IMAGE_DUAL_UPLOAD))).toBeUndefined();
      expect(inbound({ albumMessage: { expectedImageCount: 2 } })).toBeUndefined();
    });

    it('keeps its file when its text is edited', () => {
      const old = inbound({ imageMessage: { ...file, caption: 'see' } });
      if (old === undefined) throw new Error('no message');
      const known = { me: ME.me, people: new Map<string, string>(), ...LOOKUPS };
      const text = 'look';
      expect(applyEdit(old, { imageMessage: { caption: text } }, known)).toEqual({ ...old, text });
      expect(applyEdit(old, { imageMessage: {} }, known)?.text).toBe('');
      const words = inbound({ conversation: 'x' });
      expect(words && applyEdit(words, { conversation: '' }, known)).toBeUndefined();
    });
  });
});

const at = { degreesLatitude: 52.520008, degreesLongitude: 13.404954 };
const vcard = [
  'BEGIN:VCARD',
  'FN:Ann',
  'item1.TEL;waid=491500000001:+49 1500 000001',
  'item1.X-ABLabel:Mobile',
  'EMAIL:ann@example.org',
  'PHOTO:xyz',
  'END:VCARD',
].join('\r\n');

describe('content without text, described as text', () => {
  it.each<[proto.IMessage, string]>([
    [{ locationMessage: at }, '[Location: 52.52001, 13.40495]'],
    [
      { locationMessage: { ...at, name: 'Tower', address: 'Square 1' } },
      '[Location: Tower, Square 1 (52.52001, 13.40495)]',
    ],
    [{ liveLocationMessage: at }, '[Location: 52.52001, 13.40495]'],
    [
      { contactMessage: { displayName: 'Ann', vcard } },
      '[Contact: Ann, +49 1500 000001, ann@example.org]',
    ],
    [
      { contactsArrayMessage: { contacts: [{ displayName: 'A' }, { displayName: 'B' }] } },
      '[Contact: A]\n[Contact: B]',
    ],
    [
      { pollCreationMessageV3: { name: 'When?', options: [{ optionName: 'now' }, {}] } },
      '[Poll: When?]\n- now\n- ',
    ],
  ])('[F01] %o', (content, words) => {
    expect(inbound(content)?.text).toBe(words);
  });
});
