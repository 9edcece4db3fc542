import type { OutboundPart, PartExtras, Receipt } from '@parley/core';
import { afterEach, describe, expect, it } from 'vitest';
import { noSignal, readFailure } from '../adapter-core.ts';
import { createPart } from './adapter-parts.ts';
import {
  endScenes,
  startTelegramScene,
  type TelegramScene,
  type TelegramSceneOptions,
} from './adapter-scene.ts';

const ANN = 501;
const BO = 502;
const GROUP = -5;
const STATUS = { name: 'status', summary: 'how I am doing', private: true } as const;

afterEach(endScenes);

/** A scene in which Ann has sent an ephemeral command to the group. */
async function whispered(wishes: TelegramSceneOptions = {}) {
  const made = await startTelegramScene({ commands: [STATUS], ...wishes });
  await made.adapter.start();
  made.double.say({ chat: GROUP, from: ANN, text: '/status', ephemeral: true });
  await made.double.waitFor(() => made.received.length === 1);
  return { ...made, answer: answering(made) };
}

/** Sends a part on the route of the newest message. */
function answering({ adapter, received }: TelegramScene) {
  return (text: string, more: PartExtras = {}): Promise<Receipt> => {
    const asked = received.at(-1);
    const bare = createPart(GROUP, text, more);
    const { messageId, response, chat } = asked ?? {};
    const route = {
      ...bare.route,
      ...(chat?.threadId !== undefined && { threadId: chat.threadId }),
      ...(messageId !== undefined && { replyToMessageId: messageId }),
      ...(response !== undefined && { response }),
    };
    const answer: OutboundPart = { ...bare, turnId: null, route };
    return adapter.send(answer, noSignal());
  };
}

describe('an ephemeral message in a group', () => {
  it('[F18] gets a unique id, although its message id is 0', async () => {
    const { double, received } = await whispered();
    double.say({ chat: GROUP, from: BO, text: '/status', ephemeral: true });
    double.say({ chat: GROUP, from: ANN, text: '/status', ephemeral: true });
    await double.waitFor(() => received.length === 3);
    expect(received).toMatchObject([
      {
        text: '/status',
        addressed: true,
        chat: { id: '-5', type: 'group' },
        sender: { id: '501' },
      },
      { text: '/status', addressed: true, sender: { id: '502' } },
      { text: '/status', addressed: true, sender: { id: '501' } },
    ]);
    expect(new Set(received.map(({ messageId }) => messageId)).size).toBe(3);
    expect(received.every(({ messageId }) => messageId !== '0')).toBe(true);
  });

  it('[F18] is answered only to its sender, in the group', async () => {
    const { double, answer } = await whispered();
    const first = await answer('All is well.');
    const second = await answer('Really.');
    expect(double.conversation(GROUP).slice(1)).toMatchObject([
      { text: 'All is well.', onlyFor: ANN },
      { text: 'Really.', onlyFor: ANN },
    ]);
    expect(double.calls('sendMessage').map(({ params }) => params)).toMatchObject(
      ['All is well.', 'Really.'].map((text) => ({
        text,
        ephemeral_message_parameters: { receiver_user_id: ANN },
        reply_parameters: { ephemeral_message_id: 1 },
      })),
    );
    expect(first.platformMessageId).not.toBe(second.platformMessageId);
  });

  it('[F17] [F18] starts a conversation between that person and the bot when it is not a command', async () => {
    const { double, received, answer } = await whispered();
    double.say({ chat: GROUP, from: ANN, text: 'and my salary?', ephemeral: true });
    double.say({ chat: GROUP, from: BO, text: 'and mine?', ephemeral: true });
    double.say({ chat: GROUP, from: ANN, text: 'hello @parley_test_bot' });
    await double.waitFor(() => received.length === 4);
    const threads = received.map(({ chat }) => chat.threadId);
    expect(threads).toEqual([undefined, 'alone:501', 'alone:502', undefined]);
    expect(received[1]).toMatchObject({ addressed: true, chat: { id: '-5', type: 'thread' } });
    received.splice(2);
    await answer('It is 5.');
    expect(double.conversation(GROUP).at(-1)).toMatchObject({ text: 'It is 5.', onlyFor: ANN });
  });

  it('[F17] [F18] is followed only by messages that others in the group cannot see', async () => {
    const { double, adapter } = await whispered();
    double.say({ chat: ANN, text: 'hi' });
    const address = { chatId: String(GROUP), threadId: 'alone:501' };
    expect(adapter.streaming?.pace?.(address, 500)).toBeNull();
    await adapter.typing?.show(address);
    await adapter.send({ ...createPart(GROUP, 'A reminder', address), turnId: null }, noSignal());
    expect(double.conversation(GROUP).filter(({ from }) => from === 'bot')).toEqual([]);
    expect(double.conversation(ANN).at(-1)).toMatchObject({ from: 'bot', text: 'A reminder' });
    double.promote(GROUP, double.me.id);
    await adapter.send({ ...createPart(GROUP, 'Another one', address), turnId: null }, noSignal());
    expect(double.conversation(GROUP).at(-1)).toMatchObject({ text: 'Another one', onlyFor: ANN });
    expect(double.calls('sendChatAction')).toEqual([]);
  });

  it('[F18] does not affect a notice for the whole group that is not an answer', async () => {
    const { double, adapter, received } = await whispered();
    const bare = createPart(GROUP, 'news');
    const { response = '' } = received[0] ?? {};
    await adapter.send({ ...bare, turnId: null, route: { ...bare.route, response } }, noSignal());
    const news = double.conversation(GROUP).at(-1);
    expect(news).toMatchObject({ text: 'news' });
    expect(news).not.toHaveProperty('onlyFor');
  });

  it('[F18] is answered with a file that only its sender sees', async () => {
    const { double, adapter, received } = await whispered();
    const { mkdtempSync, rmSync, writeFileSync } = await import('node:fs');
    const folder = mkdtempSync('/tmp/parley-whisper-');
    try {
      const path = `${folder}/notes.txt`;
      writeFileSync(path, 'notes');
      const file = { kind: 'document', name: 'notes.txt', mimeType: 'text/plain', path } as const;
      await answering({ adapter, received } as TelegramScene)('see', { file });
    } finally {
      rmSync(folder, { recursive: true });
    }
    expect(double.conversation(GROUP).at(-1)).toMatchObject({ text: 'see', onlyFor: ANN });
  });

  it("[F18] gets a late answer in its sender's direct chat, and not in the group", async () => {
    let now = 1_000_000;
    const { double, answer } = await whispered({
      double: { clock: () => now },
      clock: () => now,
    });
    double.say({ chat: ANN, text: 'hi' });
    now += 16_000;
    const { platformMessageId } = await answer('All is well.');
    expect(double.conversation(GROUP).filter(({ from }) => from === 'bot')).toEqual([]);
    expect(double.conversation(ANN).at(-1)).toMatchObject({ from: 'bot', text: 'All is well.' });
    // A message number from another chat does not count in the group.
    expect(platformMessageId).not.toMatch(/^\d/);
  });

  it('[F18] gets a late answer in the group if the bot is an administrator, visible only to its sender', async () => {
    let now = 1_000_000;
    const { double, answer } = await whispered({ double: { clock: () => now } });
    double.promote(GROUP, double.me.id);
    now += 16_000;
    await answer('All is well.');
    expect(double.conversation(GROUP).at(-1)).toMatchObject({ from: 'bot', onlyFor: ANN });
  });

  it('[F18] is never answered to everyone, so the answer fails if its sender cannot be reached', async () => {
    let now = 1_000_000;
    const { double, answer } = await whispered({ double: { clock: () => now } });
    now += 16_000;
    const failed = answer('secret');
    expect(await readFailure(failed)).toEqual({ kind: 'refused' });
    await expect(failed).rejects.toThrow('A private answer was not sent');
    expect(double.conversation(GROUP).filter(({ from }) => from === 'bot')).toEqual([]);
    const shown = double.calls().filter(({ outcome }) => outcome === 200);
    expect(JSON.stringify(shown)).not.toContain('secret');
  });

  it('[M04] [F18] gets a plain but still private answer when Telegram refuses the markup', async () => {
    const { double, answer } = await whispered();
    await answer('<b>broken');
    expect(double.conversation(GROUP).at(-1)).toMatchObject({ text: 'plain', onlyFor: ANN });
  });

  it('[D05] waits for the rate limit like any other message', async () => {
    const { double, answer } = await whispered();
    const parameters = { retry_after: 3 };
    double.fault({ kind: 'refuse', code: 429, description: 'slow', parameters });
    expect(await readFailure(answer('later'))).toMatchObject({ kind: 'rate-limited' });
    expect(double.calls('sendMessage')).toHaveLength(1);
  });

  it('[F18] does not show typing or a streamed answer to other people', async () => {
    const { double, adapter, received } = await whispered();
    double.say({ chat: GROUP, from: BO, text: 'q' });
    await double.waitFor(() => received.length === 2);
    const address = { chatId: String(GROUP), response: received[0]?.response };
    await adapter.typing?.show(address);
    expect(adapter.streaming?.pace?.(address, 500)).toBeNull();
    expect(adapter.streaming?.pace?.({ chatId: String(GROUP) }, 500)).not.toBeNull();
    expect(double.calls('sendChatAction')).toEqual([]);
  });

  it('[F18] has buttons that answer privately, and loses its keyboard when it is decided', async () => {
    const settled = { kind: 'command', name: 'approve', settled: true } as const;
    const { double, received, answer } = await whispered({
      receive: async (message) =>
        message.pressed === undefined ? { kind: 'accepted', conversationId: 'c' } : settled,
    });
    const buttons = [{ label: 'Approve', data: '/approve ABC234', style: 'success' as const }];
    const { platformMessageId } = await answer('May I?', { buttons });
    const { ephemeralId } = double.conversation(GROUP).at(-1) ?? {};
    double.press({ chat: GROUP, message: 0, ephemeral: ephemeralId, label: 'Approve', from: ANN });
    await double.waitFor(() => received.length === 2);
    expect(received[1]).toMatchObject({ text: '/approve ABC234', pressed: platformMessageId });
    await double.waitFor(() => double.conversation(GROUP).at(-1)?.buttons === undefined);
    await answer('Allowed.');
    expect(double.conversation(GROUP).at(-1)).toMatchObject({ text: 'Allowed.', onlyFor: ANN });
    expect(double.calls('sendMessage').at(-1)?.params).toMatchObject({
      ephemeral_message_parameters: { callback_query_id: expect.stringMatching(/^\d+$/) },
    });
  });

  it('[F17] [F18] has buttons that decide in the conversation of the request', async () => {
    const place = { threadId: undefined as string | undefined };
    const { double, received } = await whispered({
      message: async () => ({ by: 'agent', text: 'May I?', ...place }),
    });
    const pressed = (ephemeral: number) => ({
      id: `c${ephemeral}`,
      from: { id: ANN, is_bot: false, first_name: 'Ann' },
      message: {
        ...{ message_id: 0, ephemeral_message_id: ephemeral, date: 1_790_000_000 },
        chat: { id: GROUP, type: 'group', title: 'Team' },
      },
      chat_instance: 'x',
      data: '/approve ABC234',
    });
    double.update('callback_query', pressed(41));
    await double.waitFor(() => received.length === 2);
    place.threadId = `alone:${ANN}`;
    double.update('callback_query', pressed(42));
    await double.waitFor(() => received.length === 3);
    expect(received.slice(1).map(({ chat }) => [chat.type, chat.threadId])).toEqual([
      ['group', undefined],
      ['thread', `alone:${ANN}`],
    ]);
  });

  it('[F04] [F18] has answers that can be edited and deleted, unlike answers visible to others', async () => {
    const { double, adapter, received, answer } = await whispered();
    const { platformMessageId: id } = await answer('one');
    const address = { chatId: String(GROUP), response: received[0]?.response };
    await adapter.messages?.edit?.(address, id, { text: '<b>two</b>', plain: 'two' });
    await adapter.messages?.edit?.(address, id, { text: '<b>two</b>', plain: 'two' });
    expect(double.conversation(GROUP).at(-1)).toMatchObject({
      text: 'two',
      edits: 1,
      onlyFor: ANN,
    });
    const everyone = { chatId: String(GROUP) };
    const edit = async () => adapter.messages?.edit?.(everyone, id, { text: 'x', plain: 'x' });
    expect(await readFailure(edit())).toEqual({ kind: 'refused' });
    await adapter.messages?.delete?.(address, id);
    expect(double.conversation(GROUP)).toHaveLength(1);
  });

  it('[D04] is never searched for among public messages', async () => {
    const { double, adapter, received } = await whispered();
    const asked = received[0];
    const bare = createPart(GROUP, 'x');
    const route = {
      ...bare.route,
      replyToMessageId: asked?.messageId ?? '',
      ...(asked?.response !== undefined && { response: asked.response }),
    };
    const known = [{ chatId: String(GROUP), messageId: '1', direction: 'in' as const, at: 1 }];
    const before = { known, uncertainAt: null };
    expect(await adapter.findSent?.({ ...bare, route }, before, noSignal())).toBeUndefined();
    expect(double.calls('editMessageReplyMarkup')).toEqual([]);
  });

  it('[F18] [F09] is only used for private commands in the menu of groups', async () => {
    const { double } = await whispered({ commands: [STATUS, { name: 'help', summary: 'help' }] });
    await double.waitFor(() => double.calls('setMyCommands').length === 2);
    const menus = double.calls('setMyCommands').map(({ params }) => params);
    const [status, help] = [
      { command: 'status', description: 'how I am doing' },
      { command: 'help', description: 'help' },
    ];
    expect(menus).toEqual([
      { commands: [status, help], scope: { type: 'all_private_chats' } },
      { commands: [{ ...status, is_ephemeral: true }, help], scope: { type: 'all_group_chats' } },
    ]);
  });

  it('[F18] is answered publicly when its command was typed publicly', async () => {
    const { double, adapter, received } = await startTelegramScene({ commands: [STATUS] });
    await adapter.start();
    double.say({ chat: GROUP, from: ANN, text: '/status@parley_test_bot' });
    await double.waitFor(() => received.length === 1);
    expect(received[0]?.response).toBeUndefined();
  });
});
