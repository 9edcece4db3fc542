import { Message, parseMarkdown, toPlainText } from 'chat';
import { describe, expect, it } from 'vitest';
import type { ReadingContext } from './to-inbound.ts';
import { readMessageText } from './words.ts';

const bot = { userName: 'parley', userId: 'B1' };

/** A message as an adapter would parse it. */
function said(markdown: string, raw: unknown = {}, more: Partial<Message> = {}): Message {
  const formatted = parseMarkdown(markdown);
  return new Message({
    id: 'm1',
    threadId: 'x:1',
    text: toPlainText(formatted),
    formatted,
    raw,
    author: { userId: 'U1', userName: 'ann', fullName: 'Ann', isBot: false, isMe: false },
    metadata: { dateSent: new Date(0), edited: false },
    attachments: [],
    ...more,
  });
}

const reading = (platform: string): ReadingContext => ({
  platform,
  bot,
  nameOf: async () => undefined,
});

describe('reading the text of a message', () => {
  it.each([
    [
      '[F16] keeps the address behind a word',
      'see [this](https://e.org/a)',
      'see this (https://e.org/a)',
    ],
    [
      '[F16] writes a plain address once',
      '<https://e.org/>, ann@e.org',
      'https://e.org/, ann@e.org',
    ],
    ['keeps lines and lists', 'one\ntwo\n\n- a\n- b', 'one\ntwo\n\na\nb'],
    ['[M05] keeps HTML as text', 'a <b>x</b> z', 'a <b>x</b> z'],
    ['[F09] begins after the mention of the bot', '@Parley: /new', '/new'],
    ['[F06] keeps the mention of somebody else', '@parleys hi', '@parleys hi'],
  ])('%s', async (_title, markdown, text) => {
    expect((await readMessageText(said(markdown), reading('other'))).text).toBe(text);
  });

  it.each([
    ['@parley hi', undefined, true],
    ['hi <@B1> and @B1', undefined, true],
    ['write to me@parley.org', undefined, false],
    ['nothing', undefined, false],
    ['@parley hi', false, false],
    ['nothing', true, true],
  ])(
    "[F06] finds the bot's mention in %j, with the adapter's own result %j: %j",
    async (text, says, is) => {
      const more = says === undefined ? {} : { isMention: says };
      expect((await readMessageText(said(text, {}, more), reading('other'))).isMention).toBe(is);
    },
  );

  it('[P18] leaves it to the core to decide what was typed if the adapter is unknown', async () => {
    const words = await readMessageText(said('hi'), reading('other'));
    expect(words.authored).toBeUndefined();
  });

  it('[F16] includes the original message of a reply', async () => {
    const message = said('yes', {}, { replyTo: said('really?') });
    expect((await readMessageText(message, reading('other'))).replyTo).toEqual({
      ...{ messageId: 'm1', senderId: 'U1', text: 'really?' },
    });
  });

  it("reads Markdown from GitHub, together with the repository's owner", async () => {
    const raw = {
      comment: { body: '@parley look at `x_y`\n\n> **old**' },
      repository: { owner: { login: 'acme' } },
    };
    expect(await readMessageText(said('', raw), reading('github'))).toMatchObject({
      ...{ text: 'look at `x_y`\n\n> **old**', isMention: true, within: 'acme' },
      authored: { text: true },
    });
  });

  it('treats a message in a Linear agent session as addressed to the bot', async () => {
    const raw = { kind: 'agent_session_comment', comment: { body: 'go' }, organizationId: 'o1' };
    expect(await readMessageText(said('', raw), reading('linear'))).toMatchObject({
      ...{ text: 'go', isMention: true, within: 'o1' },
    });
  });

  it('reads Google Chat messages without the mention, and treats messages sent to the app as addressed to it', async () => {
    const raw = { chat: { messagePayload: { message: { argumentText: ' /new' } } } };
    expect(await readMessageText(said('@App /new', raw), reading('gchat'))).toMatchObject({
      ...{ text: '/new', isMention: true },
    });
    const pushed = await readMessageText(said('only talk', { message: {} }), reading('gchat'));
    expect(pushed.isMention).toBe(false);
  });

  it.each<[string, object, object]>([
    ['a text', { type: 'text' }, { text: 'hi', authored: { text: true } }],
    ['a caption', { type: 'image', image: { caption: 'look' } }, { text: 'look' }],
    ['a picture', { type: 'image', image: {} }, { text: '' }],
    [
      'a forwarded text',
      { type: 'text', context: { forwarded: true } },
      { text: 'hi', authored: {} },
    ],
    ['an answer', { type: 'text', context: { id: 'w1' } }, { replyTo: { messageId: 'w1' } }],
  ])('reads WhatsApp messages: %s', async (_what, message, expected) => {
    expect(await readMessageText(said('hi', { message }), reading('whatsapp'))).toMatchObject(
      expected,
    );
  });

  const teams = (activity: object) => readMessageText(said('', activity), reading('teams'));
  const html = (content: string) => [{ contentType: 'text/html', content }];

  it("keeps punctuation and HTML that people typed in Teams, without the bot's mention", async () => {
    const mention = { type: 'mention', mentioned: { id: 'B1' }, text: '<at>Parley</at>' };
    const other = { type: 'mention', mentioned: { id: 'U2' }, text: '<at>Bo</at>' };
    const text = '<at>Parley</at>&nbsp;*hi* <at>Bo</at> &lt;b&gt; &amp;amp;';
    expect(await teams({ text, entities: [mention, other, { type: 'clientInfo' }] })).toEqual({
      ...{ text: '*hi* @Bo <b> &amp;', isMention: true, mentions: ['B1', 'U2'] },
      authored: { text: true },
    });
  });

  it('[F16] adds link targets to Teams messages', async () => {
    const content =
      '<p>see <a href="https://e.org/a">that</a>, <a href="https://e.org">https://e.org</a></p>';
    const text = 'see that, https://e.org';
    expect(await teams({ text, attachments: html(content) })).toMatchObject({
      text: 'see that (https://e.org/a), https://e.org',
    });
  });

  it('[P18] treats quoted text in Teams as not typed by the sender', async () => {
    const content = '<blockquote itemtype="http://schema.skype.com/Reply">/approve A</blockquote>';
    expect((await teams({ text: '/approve A', attachments: html(content) })).authored).toEqual({});
  });
});
