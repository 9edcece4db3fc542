import { afterEach, describe, expect, it } from 'vitest';
import { noSignal, readFailure } from '../adapter-core.ts';
import { createPart } from './adapter-parts.ts';
import { endScenes, startTelegramScene } from './adapter-scene.ts';

const ANN = 501;
const NEWS_DIRECT = -1_000_000_000_008;
const OWNER = { id: 2001, is_bot: false, first_name: 'Cat' };

afterEach(endScenes);

/** A scene in which a customer has written to a business account. */
async function business() {
  const all = await startTelegramScene();
  await all.adapter.start();
  all.double.connectBusiness({ id: 'conn', user: OWNER });
  all.double.say({ chat: ANN, business: 'conn', text: 'are you open?' });
  await all.double.waitFor(() => all.received.length === 1);
  const [{ chat, messageId } = { chat: undefined, messageId: '' }] = all.received;
  return { ...all, threadId: chat?.threadId ?? '', messageId };
}

describe('a chat of a business account', () => {
  it('[F17] is answered in the name of the account, with a quote of the question', async () => {
    const { double, adapter, threadId, messageId } = await business();
    const answer = createPart(ANN, 'until six', { threadId, replyToMessageId: messageId });
    const { platformMessageId } = await adapter.send(answer, noSignal());
    expect(platformMessageId).toMatch(/^\d+@conn$/);
    expect(double.conversation(ANN, 'conn').at(-1)).toMatchObject({
      text: 'until six',
      replyTo: Number.parseInt(messageId, 10),
    });
    expect(double.conversation(ANN)).toEqual([]);
  });

  it('[F17] has answers that can be edited and deleted, but no reactions', async () => {
    const { double, adapter, threadId } = await business();
    const sent = await adapter.send(createPart(ANN, 'until six', { threadId }), noSignal());
    const address = { chatId: String(ANN), threadId };
    const { edit, react, delete: remove } = adapter.messages ?? {};
    await edit?.(address, sent.platformMessageId, { text: 'until seven', plain: 'until seven' });
    expect(double.conversation(ANN, 'conn').at(-1)).toMatchObject({
      text: 'until seven',
      edits: 1,
    });
    const editing = edit?.({ chatId: String(ANN) }, sent.platformMessageId, {
      text: 'x',
      plain: 'x',
    });
    expect(await readFailure(editing ?? Promise.resolve())).toEqual({ kind: 'refused' });
    expect(double.calls('editMessageText')).toHaveLength(1);
    const reacting = react?.(address, sent.platformMessageId, '👍') ?? Promise.resolve();
    expect(await readFailure(reacting)).toEqual({ kind: 'refused' });
    await remove?.(address, sent.platformMessageId);
    expect(double.conversation(ANN, 'conn').map(({ text }) => text)).toEqual(['are you open?']);
  });

  it('[F12] [F17] shows typing, but no unfinished answers', async () => {
    const { double, adapter, threadId } = await business();
    await adapter.typing?.show({ chatId: String(ANN), threadId });
    expect(double.calls('sendChatAction').at(-1)?.params).toMatchObject({
      chat_id: String(ANN),
      business_connection_id: 'conn',
    });
    expect(adapter.streaming?.pace?.({ chatId: String(ANN), threadId }, 500)).toBeNull();
  });

  it('[F17] revises edited and deleted messages under the ids of that chat', async () => {
    const { double, revised, messageId } = await business();
    const number = Number.parseInt(messageId, 10);
    double.reword(ANN, number, 'are you closed?', 'conn');
    double.deleteInBusiness('conn', ANN, [number]);
    await double.waitFor(() => revised.length === 2);
    expect(revised).toMatchObject([
      { kind: 'edited', message: { messageId, text: 'are you closed?' } },
      { kind: 'deleted', chatId: String(ANN), messageId },
    ]);
  });

  it('[F17] is no longer answered when the account revokes the right to reply', async () => {
    const { double, adapter, ignored, threadId } = await business();
    double.connectBusiness({ id: 'conn', canReply: false });
    double.say({ chat: ANN, business: 'conn', text: 'hello?' });
    await double.waitFor(() => ignored.length === 1);
    expect(ignored[0]?.reason).toContain('does not let the bot reply');
    const sending = adapter.send(createPart(ANN, 'late', { threadId }), noSignal());
    expect(await readFailure(sending)).toMatchObject({ kind: expect.any(String) });
    expect(double.conversation(ANN, 'conn').filter(({ from }) => from === 'bot')).toEqual([]);
  });

  it('[F05] does not treat customers as administrators', async () => {
    const { senders } = await business();
    expect(await senders[0]?.isAdministrator?.(noSignal())).toBe(false);
  });

  it('[F05] asks Telegram for the owner of a connection created before the start', async () => {
    const { double, adapter, received } = await startTelegramScene();
    double.connectBusiness({ id: 'conn', user: OWNER });
    await adapter.start();
    await double.waitFor(() => double.pendingUpdates().length === 0);
    double.say({ chat: ANN, business: 'conn', text: 'one' });
    await double.waitFor(() => received.length === 1);
    expect(received[0]?.chat.within).toBe(`business:${OWNER.id}`);
  });
});

describe("a channel's direct messages", () => {
  it("[F17] are answered in the subscriber's topic, without typing", async () => {
    const { double, adapter, received } = await startTelegramScene();
    await adapter.start();
    for (const subscriber of [11, 12])
      double.say({ chat: NEWS_DIRECT, from: subscriber, subscriber, text: `from ${subscriber}` });
    await double.waitFor(() => received.length === 2);
    const [first, second] = received.map(({ chat }) => chat.threadId ?? '');
    expect(first).not.toBe(second);
    await adapter.send(createPart(NEWS_DIRECT, 'to 12', { threadId: second ?? '' }), noSignal());
    expect(double.conversation(NEWS_DIRECT).at(-1)).toMatchObject({
      text: 'to 12',
      subscriber: 12,
    });
    await adapter.typing?.show({ chatId: String(NEWS_DIRECT), threadId: second });
    expect(double.calls('sendChatAction')).toEqual([]);
    const name = await adapter.chatName?.({ chatId: String(NEWS_DIRECT), threadId: second });
    expect(name).toContain('direct messages of User 12');
  });

  it('[F17] cannot be answered without the topic, either in the double or in Telegram', async () => {
    const { double, adapter, received } = await startTelegramScene();
    await adapter.start();
    double.say({ chat: NEWS_DIRECT, from: 11, subscriber: 11, text: 'hi' });
    await double.waitFor(() => received.length === 1);
    const failure = await readFailure(adapter.send(createPart(NEWS_DIRECT, 'lost'), noSignal()));
    expect(failure).toEqual({ kind: 'refused' });
    expect(double.calls('sendMessage').at(-1)?.outcome).toBe(400);
  });
});

describe('a question to the bot in a chat where it is a guest', () => {
  async function asked() {
    const all = await startTelegramScene();
    await all.adapter.start();
    all.double.say({
      chat: { id: -77, type: 'group', title: 'Strangers' },
      guest: 'q1',
      text: 'who?',
    });
    await all.double.waitFor(() => all.received.length === 1);
    return { ...all, threadId: all.received[0]?.chat.threadId ?? '' };
  }

  it('[F17] gets one answer that consists of text', async () => {
    const { double, adapter, threadId } = await asked();
    const answer = createPart(-77, '<b>you</b>', { threadId, plain: 'you' });
    await adapter.send(answer, noSignal());
    expect(double.guestAnswer('q1')).toBe('you');
    const more = { ...answer, index: 1 };
    expect(await readFailure(adapter.send(more, noSignal()))).toEqual({ kind: 'refused' });
    expect(double.calls('sendMessage')).toEqual([]);
  });

  it('[F17] shows neither typing nor unfinished answers, and changes nothing', async () => {
    const { double, adapter, threadId } = await asked();
    const address = { chatId: '-77', threadId };
    await adapter.typing?.show(address);
    expect(adapter.streaming?.pace?.(address, 500)).toBeNull();
    const editing = adapter.messages?.edit?.(address, '5', { text: 'a', plain: 'a' });
    expect(await readFailure(editing ?? Promise.resolve())).toEqual({ kind: 'refused' });
    expect(double.calls().filter(({ method }) => /^(?:send|edit)/.test(method))).toEqual([]);
  });
});

describe('an update that Parley cannot read', () => {
  it('[F16] is recorded for `why`', async () => {
    const { double, adapter, received, ignored } = await startTelegramScene();
    double.update('message', { message_id: 'x', chat: { id: ANN } });
    double.update('business_message', {
      message_id: 4,
      date: 1,
      chat: { id: ANN, type: 'private' },
    });
    double.say({ chat: ANN, text: 'after' });
    await adapter.start();
    await double.waitFor(() => received.length === 1);
    expect(ignored.map(({ event: { chatId }, reason }) => [chatId, reason])).toEqual([
      [String(ANN), 'its form differs from what Telegram documents'],
      [String(ANN), 'its form differs from what Telegram documents'],
    ]);
  });
});

describe('a button below a message that is too old for Telegram to show', () => {
  const FORUM = { id: -1_001_234_567_890, type: 'supergroup', title: 'Team' };
  const PRIVATE = { id: ANN, type: 'private', first_name: 'Ann' };

  it.each([
    ['a topic of a group', FORUM, '7', { type: 'thread', threadId: '7' }],
    ['a topic of a direct chat', PRIVATE, '44', { type: 'direct', threadId: '44', separate: true }],
    ['a subscriber', FORUM, 'direct:501', { type: 'thread', threadId: 'direct:501' }],
    ['a direct chat', PRIVATE, undefined, { type: 'direct' }],
  ])(
    '[F17] [G05] is pressed in the chat where it was sent: %s',
    async (_where, chat, threadId, expected) => {
      const { double, adapter, received } = await startTelegramScene({
        message: async () => ({ by: 'agent', text: 'May I?', threadId }),
      });
      await adapter.start();
      double.update('callback_query', {
        id: 'c1',
        from: { id: ANN, is_bot: false, first_name: 'Ann' },
        message: { chat, message_id: 5, date: 0 },
        chat_instance: 'x',
        data: '/approve ABC234',
      });
      await double.waitFor(() => received.length === 1);
      const { id: _, title: __, ...place } = received[0]?.chat ?? {};
      expect(place).toEqual(expected);
    },
  );
});
