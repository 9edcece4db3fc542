import type { IngressOutcome } from '@parley/channels';
import type { InboundMessage } from '@parley/core';
import { afterEach, describe, expect, it } from 'vitest';
import { accepted, noSignal } from '../adapter-core.ts';
import { createPart } from './adapter-parts.ts';
import { endScenes, startTelegramScene } from './adapter-scene.ts';

const ANN = 501;
const GROUP = -5;
const FORUM = -1_000_000_000_005;
const CHANNEL = { id: -1_000_000_000_009, type: 'channel', title: 'News' };

afterEach(endScenes);

describe("a button below one of the bot's messages", () => {
  const buttons = [
    { label: 'Yes', data: '/approve 7' },
    { label: 'No', data: '/deny 7' },
  ];

  it('[F04] sends its data as a message from the person who pressed it, and stops its progress indicator', async () => {
    const { double, adapter, received } = await startTelegramScene();
    await adapter.start();
    double.say({ chat: FORUM, thread: 42, text: 'q' });
    await double.waitFor(() => received.length === 1);
    const { platformMessageId } = await adapter.send(
      createPart(FORUM, 'Sure?', { threadId: '42', buttons }),
      noSignal(),
    );
    const message = Number(platformMessageId);
    expect(double.conversation(FORUM).at(-1)?.buttons).toEqual(['Yes', 'No']);
    const first = double.press({ chat: FORUM, message, label: 'No', from: 77 });
    double.press({ chat: FORUM, message, label: 'No', from: 77 });
    await double.waitFor(() => received.length === 3 && double.pressAnswered(first));
    expect(received[1]).toMatchObject({
      text: '/deny 7',
      chat: { id: String(FORUM), type: 'thread', threadId: '42' },
      sender: { id: '77', isBot: false },
      addressed: true,
    });
    expect(received[1]?.messageId).not.toBe(received[2]?.messageId);
  });

  it('[F11] can be answered with a quote of the message above the button', async () => {
    const { double, adapter, received } = await startTelegramScene();
    await adapter.start();
    double.say({ chat: GROUP, text: 'q' });
    const sent = await adapter.send(createPart(GROUP, 'Sure?', { buttons }), noSignal());
    const message = Number(sent.platformMessageId);
    double.press({ chat: GROUP, message, label: 'Yes' });
    await double.waitFor(() => received.length === 2);
    const replyToMessageId = received[1]?.messageId ?? '';
    await adapter.send(createPart(GROUP, 'done', { replyToMessageId }), noSignal());
    expect(double.conversation(GROUP).at(-1)).toMatchObject({ text: 'done', replyTo: message });
  });

  it.each<[string, IngressOutcome, object, readonly string[] | undefined]>([
    ['a decision', { kind: 'command', name: 'deny', settled: true }, {}, undefined],
    [
      'somebody who may not',
      { kind: 'command', name: 'deny', declined: 'That is for my owner.' },
      { text: 'That is for my owner.', show_alert: true },
      ['Yes', 'No'],
    ],
    ['anything else', accepted, {}, ['Yes', 'No']],
  ])(
    '[G05] after %s shows the right notice to the person and keeps the right buttons',
    async (...row) => {
      const [, outcome, told, left] = row;
      const { double, adapter } = await startTelegramScene({
        receive: async ({ text }) => (text === 'q' ? accepted : outcome),
      });
      await adapter.start();
      double.say({ chat: GROUP, text: 'q' });
      const sent = await adapter.send(createPart(GROUP, 'Sure?', { buttons }), noSignal());
      const press = { chat: GROUP, message: Number(sent.platformMessageId), label: 'No' };
      const id = double.press(press);
      await double.waitFor(() => double.pressAnswered(id));
      const [call] = double.calls('answerCallbackQuery');
      expect(call?.params).toEqual({ callback_query_id: id, ...told });
      const asked = () => double.conversation(GROUP).find(({ text }) => text === 'Sure?');
      if (left === undefined) await double.waitFor(() => asked()?.buttons === undefined);
      expect(asked()).toMatchObject({ text: 'Sure?' });
      expect(asked()?.buttons).toEqual(left);
    },
  );

  it('[D01] delivers its press again until it is stored', async () => {
    let failures = 2;
    const receive = async ({ text }: InboundMessage) => {
      if (text !== 'q') failures -= 1;
      if (text !== 'q' && failures >= 0) throw new Error('disk is full');
      return accepted;
    };
    const { double, adapter, received } = await startTelegramScene({ receive });
    double.say({ chat: ANN, text: 'q' });
    const sent = await adapter.send(createPart(ANN, 'Sure?', { buttons }), noSignal());
    double.press({ chat: ANN, message: Number(sent.platformMessageId), label: 'Yes' });
    await adapter.start();
    await double.waitFor(() => received.length === 4);
    await double.waitFor(() => double.pendingUpdates().length === 0);
    const presses = received.slice(1);
    expect(presses.map(({ text }) => text)).toEqual(['/approve 7', '/approve 7', '/approve 7']);
    expect(new Set(presses.map(({ messageId }) => messageId)).size).toBe(1);
  });

  it('[D01] counts even if its progress indicator could not be stopped, and below a message that is too old', async () => {
    const { double, adapter, received } = await startTelegramScene();
    double.say({ chat: ANN, text: 'q' });
    const sent = await adapter.send(createPart(ANN, 'Sure?', { buttons }), noSignal());
    const message = Number(sent.platformMessageId);
    double.fault({ kind: 'reset', method: 'answerCallbackQuery' });
    double.press({ chat: ANN, message, label: 'Yes', inaccessible: true });
    await adapter.start();
    await double.waitFor(() => received.length === 2);
    expect(received[1]).toMatchObject({ text: '/approve 7', chat: { id: '501', type: 'direct' } });
    await double.waitFor(() => double.pendingUpdates().length === 0);
  });
});

describe('Telegram updates other than new messages', () => {
  it('[F06] receives posts in channels with their author, and answers there', async () => {
    const { double, adapter, received } = await startTelegramScene();
    await adapter.start();
    double.say({ chat: CHANNEL, text: 'hi @parley_test_bot', extra: { author_signature: 'Ed' } });
    await double.waitFor(() => received.length === 1);
    expect(received[0]).toMatchObject({
      chat: { id: String(CHANNEL.id), type: 'channel', title: 'News' },
      sender: { id: String(CHANNEL.id), name: 'Ed', isBot: false },
      addressed: true,
    });
    await adapter.send(createPart(CHANNEL.id, 'hello'), noSignal());
    expect(double.conversation(CHANNEL.id).at(-1)).toMatchObject({ text: 'hello', from: 'bot' });
  });

  it('[F07] counts anonymous administrators as people, but not messages from Telegram itself', async () => {
    const { double, adapter, received, ignored } = await startTelegramScene();
    await adapter.start();
    double.say({ chat: GROUP, as: { id: GROUP }, text: 'anonymous' });
    double.say({ chat: GROUP, as: { id: -1_000_000_000_077, title: 'Mine' }, text: 'as channel' });
    double.say({ chat: GROUP, extra: { new_chat_title: 'Renamed' } });
    double.say({ chat: GROUP, extra: { pinned_message: { message_id: 1, date: 0 } } });
    await double.waitFor(() => ignored.length === 2);
    expect(received.map(({ sender }) => [sender.id, sender.isBot])).toEqual([
      ['-5', false],
      ['-1000000000077', false],
    ]);
    expect(ignored.map(({ reason }) => reason)).toEqual([
      'it reports a new title',
      'it reports that a message was pinned',
    ]);
  });

  it('[D03] revises edited messages in chats and channels without starting a turn', async () => {
    const { double, adapter, received, revised } = await startTelegramScene();
    await adapter.start();
    const message = double.say({ chat: ANN, text: 'helo' });
    const post = double.say({ chat: CHANNEL, text: 'old' });
    double.reword(ANN, message.message_id, 'hello');
    double.reword(CHANNEL.id, post.message_id, 'new');
    await double.waitFor(() => revised.length === 2);
    const told = ({ chat, messageId, text }: (typeof received)[number]) => [
      chat.id,
      messageId,
      text,
    ];
    expect(revised.map((change) => change.kind === 'edited' && told(change.message))).toEqual([
      ['501', String(message.message_id), 'hello'],
      [String(CHANNEL.id), String(post.message_id), 'new'],
    ]);
    expect(received).toHaveLength(2);
  });

  it('[D01] receives an edit again that could not be stored', async () => {
    let failures = 1;
    const revise = async () => {
      failures -= 1;
      if (failures >= 0) throw new Error('disk is full');
    };
    const { double, adapter, revised } = await startTelegramScene({ revise });
    await adapter.start();
    const message = double.say({ chat: ANN, text: 'helo' });
    double.reword(ANN, message.message_id, 'hello');
    await double.waitFor(() => double.pendingUpdates().length === 0 && revised.length === 2);
  });

  it('[D05] reports to operators when a person blocks or unblocks the bot', async () => {
    const { double, adapter, logged } = await startTelegramScene();
    await adapter.start();
    double.setAccess(ANN, 'blocked');
    double.setAccess(GROUP, 'kicked');
    double.setAccess(ANN, 'open');
    await double.waitFor(() => logged.some((line) => line.includes('may write')));
    expect(logged).toMatchObject([
      expect.stringContaining('the bot was blocked {"chat":501'),
      expect.stringContaining('the bot was removed from a chat {"chat":-5'),
      expect.stringContaining('may write'),
    ]);
  });

  it('[D05] notifies the owner once about a served group that removed or muted the bot', async () => {
    const receive = async ({ chat }: InboundMessage): Promise<IngressOutcome> =>
      chat.id === String(GROUP) ? accepted : { kind: 'refused', reason: 'not allowed' };
    const { double, adapter, received, notes } = await startTelegramScene({ receive });
    await adapter.start();
    const stranger = GROUP - 1;
    for (const chat of [GROUP, stranger]) double.say({ chat, text: 'q' });
    await double.waitFor(() => received.length === 2);
    for (const chat of [GROUP, stranger]) double.setAccess(chat, 'kicked');
    for (const access of ['open', 'muted', 'kicked'] as const) double.setAccess(GROUP, access);
    await double.waitFor(() => double.pendingUpdates().length === 0);
    expect(notes).toEqual([`removed ${GROUP}`, `mute ${GROUP}`, `removed ${GROUP}`]);
  });

  it('[D05] keeps the first id of a group that becomes a supergroup, even after a restart, and notifies the owner', async () => {
    const { double, adapter, again, received, ignored, notes } = await startTelegramScene();
    await adapter.start();
    double.say({ chat: GROUP, text: 'q' });
    const newId = double.migrate(GROUP);
    await double.waitFor(() => ignored.length === 2);
    expect(received.map(({ text }) => text)).toEqual(['q']);
    expect(ignored.map(({ event }) => event.chatId)).toEqual([String(GROUP), String(GROUP)]);
    expect(new Set(notes)).toEqual(new Set([`moved ${GROUP}`]));
    await adapter.stop();
    const second = again();
    await second.start();
    const question = double.say({ chat: newId, text: 'and now?' });
    const asked = () => received.find(({ text }) => text === 'and now?');
    await double.waitFor(() => asked() !== undefined);
    const message = asked();
    expect(message).toMatchObject({
      chat: { id: String(GROUP), movedTo: String(newId) },
      messageId: `${question.message_id}s`,
    });
    const answer = createPart(GROUP, 'here', { replyToMessageId: message?.messageId ?? '' });
    const { platformMessageId } = await second.send(answer, noSignal());
    expect(platformMessageId).toMatch(/^\d+s$/);
    await second.send(createPart(GROUP, 'old', { replyToMessageId: '1' }), noSignal());
    const sent = double.calls('sendMessage').map(({ params }) => params.reply_parameters);
    expect(sent).toEqual([expect.objectContaining({ message_id: question.message_id }), undefined]);
    expect(
      double
        .conversation(newId)
        .map(({ text }) => text)
        .slice(-2),
    ).toEqual(['here', 'old']);
    await second.messages?.react?.({ chatId: String(GROUP) }, message?.messageId ?? '', '👍');
    await expect(
      second.messages?.react?.({ chatId: String(GROUP) }, '1', '👍'),
    ).rejects.toMatchObject({ code: 'channel-refused' });
    await second.stop();
  });

  it('continues after button presses and edits that it does not understand', async () => {
    const { double, adapter, received } = await startTelegramScene();
    double.update('callback_query', { id: 5 });
    double.update('edited_message', 'what?');
    double.update('my_chat_member', {});
    double.update('callback_query', {
      id: 'q',
      from: { id: 1 },
      inline_message_id: 'i',
      data: 'd',
    });
    double.say({ chat: ANN, text: 'after' });
    await adapter.start();
    await double.waitFor(() => double.pendingUpdates().length === 0);
    expect(received.map(({ text }) => text)).toEqual(['after']);
  });

  it("[F12] shows typing in a forum's general topic, where messages have no topic", async () => {
    const { double, adapter, received } = await startTelegramScene();
    await adapter.start();
    double.say({ chat: { id: FORUM, is_forum: true }, text: 'general' });
    await double.waitFor(() => received.length === 1);
    expect(received[0]?.chat).toEqual({
      id: String(FORUM),
      type: 'group',
      title: expect.any(String),
    });
    await adapter.typing?.show({ chatId: String(FORUM) });
    await adapter.send(createPart(FORUM, 'a', { threadId: '1' }), noSignal());
    expect(double.calls('sendChatAction')[0]).toMatchObject({
      outcome: 200,
      params: { message_thread_id: 1 },
    });
    expect(double.conversation(FORUM).at(-1)).toMatchObject({ text: 'a', from: 'bot' });
  });
});
