import { describe, expect, it } from 'vitest';
import { toInbound } from './content.ts';
import type { ChatDetails } from './places.ts';
import { WireMessage } from './wire-message.ts';

const ME = '900';
const GROUP: ChatDetails = {
  chat: { id: '10', type: 'group', title: 'Club #general' },
  botRole: '77',
  nameOf: (kind, id) => (kind === 'role' && id === '77' ? 'Parley' : undefined),
};
const DIRECT: ChatDetails = { chat: { id: '11', type: 'direct' }, nameOf: () => undefined };

const read = (fields: object, place = GROUP) => {
  const plain = {
    id: '100',
    channel_id: '10',
    type: 0,
    author: { id: '501', username: 'ann' },
    content: 'hi',
    timestamp: '2026-11-21T12:00:00.000Z',
  };
  return toInbound(WireMessage.parse({ ...plain, ...fields }), place, {
    account: 'default',
    me: ME,
    threads: 'never',
  });
};
const me = { id: ME, username: 'parley' };
const file = { id: '3', filename: 'a.bin', size: 5, url: 'https://cdn.discordapp.com/a?ex=1' };

describe('[F01] converting a Discord message', () => {
  it.each([
    ["the sender's nickname in the server", { member: { nick: 'Annie' } }, 'Annie'],
    [
      "otherwise the sender's display name",
      { author: { id: '1', username: 'ann', global_name: 'Ann A.' } },
      'Ann A.',
    ],
    ['otherwise the account name', {}, 'ann'],
  ])('names the sender by %s', (_, fields, name) => {
    expect(read(fields)?.sender.name).toBe(name);
  });

  it.each([
    ['a direct chat', {}, DIRECT, true],
    ['nobody', {}, GROUP, false],
    ['a mention', { content: 'so <@900>', mentions: [me] }, GROUP, true],
    ['a mention at the beginning', { content: '<@!900>, so' }, GROUP, true],
    ["the role with the bot's name", { mention_roles: ['77'] }, GROUP, true],
    ['another role', { mention_roles: ['78'] }, GROUP, false],
    ['a mention of another user', { mentions: [{ id: '5', username: 'ben' }] }, GROUP, false],
    ['everybody', { content: '@everyone' }, GROUP, false],
    ['a reply to the bot', { type: 19, referenced_message: { author: me } }, GROUP, true],
    [
      'a reply to another user',
      { type: 19, referenced_message: { author: { id: '5', username: 'ben' } } },
      GROUP,
      false,
    ],
  ])('[F06] recognizes a message addressed by %s: %o', (_, fields, place, addressed) => {
    expect(read(fields, place)?.addressed).toBe(addressed);
  });

  it.each([
    ['<@900> /stop', '/stop'],
    ['  <@!900>: hello', 'hello'],
    ['<@&77> hello', 'hello'],
    ['hello <@900>', 'hello <@900>'],
    ['<@900>', ''],
  ])('[F09] removes a leading mention of the bot: %s', (content, text) => {
    expect(read({ content })?.text).toBe(text);
  });

  it.each([
    [7, 'joined'],
    [6, 'pinned'],
    [18, 'started a thread'],
    [21, 'the copy of the message that a thread was started from'],
    [46, 'a poll ended'],
  ])('[F07] ignores messages that Discord itself wrote: type %i, %s', (type) => {
    expect(read({ type })).toBeUndefined();
  });

  it.each([
    [{ author: { id: '1', username: 'b', bot: true } }, true],
    [{ author: { id: '1', username: 'd', system: true } }, true],
    [{ webhook_id: '1' }, true],
    [{}, false],
  ])('[F07] reports which senders are not people: %o', (fields, isBot) => {
    expect(read(fields)?.sender.isBot).toBe(isBot);
  });

  it("[F07] ignores the bot's own messages", () => {
    expect(read({ author: me })).toBeUndefined();
  });

  it('[F10] includes voice notes, files and stickers', () => {
    const voice = { ...file, content_type: 'audio/ogg', waveform: 'AAA' };
    const stickers = [
      { id: '8', name: 'wave', format_type: 1 },
      { id: '9', name: 'moving drawing', format_type: 3 },
    ];
    const { attachments } = read({ attachments: [file, voice], sticker_items: stickers }) ?? {};
    expect(attachments).toEqual([
      { kind: 'document', name: 'a.bin', size: 5, ref: `${file.url}#10/100/3` },
      {
        kind: 'voice',
        name: 'a.bin',
        mimeType: 'audio/ogg',
        size: 5,
        ref: `${file.url}#10/100/3`,
      },
      {
        kind: 'sticker',
        name: 'wave',
        mimeType: 'image/png',
        ref: 'https://media.discordapp.net/stickers/8.png',
      },
    ]);
  });

  it('[F09] [G13] includes the text and files of a forwarded message, but does not treat the text as a command', () => {
    const forwarded = { message: { content: '/new', attachments: [file] } };
    const message = read({
      content: '',
      message_reference: { type: 1, message_id: '50' },
      message_snapshots: [forwarded],
    });
    expect(message).toMatchObject({
      text: '[Forwarded]\n/new',
      attachments: [{ name: 'a.bin' }],
    });
    expect(message).not.toHaveProperty('replyTo');
  });

  it('[F10] includes the files of the original message if a reply has no files', () => {
    const author = { id: '5', username: 'ben' };
    const answered = {
      id: '50',
      author,
      content: 'for <@900>',
      mentions: [me],
      attachments: [file],
    };
    const message = { message_reference: { message_id: '50' }, referenced_message: answered };
    expect(read(message)).toMatchObject({
      attachments: [{ ref: `${file.url}#10/50/3` }],
      replyTo: { messageId: '50', senderId: '5', text: 'for @parley' },
    });
    const own = { ...file, id: '4' };
    expect(read({ ...message, attachments: [own] })?.attachments).toMatchObject([
      { ref: `${file.url}#10/100/4` },
    ]);
  });

  it('includes the question and the answers of a poll as text', () => {
    const answers = ['Tea', 'Coffee'].map((text) => ({ poll_media: { text } }));
    const message = read({ content: '', poll: { question: { text: 'What?' }, answers } });
    expect(message?.text).toBe('Poll: What?\n- Tea\n- Coffee');
  });

  it('keeps the text when embeds, polls or components are malformed', () => {
    const strange = { sticker_items: 5, poll: 'x', message_snapshots: {}, referenced_message: [] };
    expect(read(strange)?.text).toBe('hi');
  });

  it('accepts a reply even if the original message was deleted', () => {
    const fields = { type: 19, message_reference: { message_id: '50' }, referenced_message: null };
    expect(read(fields)?.replyTo).toEqual({ messageId: '50' });
  });
});
