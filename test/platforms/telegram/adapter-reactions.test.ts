import { InboundReaction } from '@parley/core';
import { createInMemoryAdapterValues } from '@parley/core/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { endScenes, startTelegramScene, type TelegramScene } from './adapter-scene.ts';

const ANN = 501;
const GROUP = -5;
const CHANNEL = { id: -1_000_000_000_009, type: 'channel', title: 'News' };

afterEach(endScenes);

const untilRead = ({ double }: TelegramScene) =>
  double.waitFor(() => double.pendingUpdates().length === 0);

describe("[F06] people's reactions", () => {
  it("reach the core as all of a person's current reactions, in private chats", async () => {
    const here = await startTelegramScene();
    const { double, adapter, reactions, received } = here;
    const { message_id: message } = double.say({ chat: ANN, text: 'q' });
    await adapter.start();
    await double.waitFor(() => received.length === 1);
    double.react({ chat: ANN, message, emojis: ['👍', '🔥'] });
    double.react({ chat: ANN, message, emojis: [] });
    await untilRead(here);
    const ann = { id: String(ANN), name: `User ${ANN}`, isBot: false };
    const thumb = {
      channel: 'telegram',
      account: 'default',
      chat: { id: String(ANN), type: 'direct' },
      messageId: String(message),
      sender: ann,
      emojis: ['👍', '🔥'],
    };
    expect(reactions).toMatchObject([thumb, { ...thumb, emojis: [] }]);
    expect(Math.abs((reactions[0]?.sentAt ?? 0) - Date.now())).toBeLessThan(60_000);
    expect(received).toHaveLength(1);
  });

  it('arrive from groups where the bot is an administrator, including reactions of people who write as a chat', async () => {
    const here = await startTelegramScene();
    const { double, adapter, reactions, received } = here;
    const { message_id: message } = double.say({ chat: GROUP, text: 'q' });
    const post = double.say({ chat: CHANNEL, text: 'news' });
    await adapter.start();
    await double.waitFor(() => received.length === 2);
    double.react({ chat: GROUP, message, emojis: ['👍'] });
    double.promote(GROUP, double.me.id);
    double.react({ chat: GROUP, message, from: 1002, emojis: ['👎'] });
    double.react({ chat: GROUP, message, as: { ...CHANNEL }, emojis: ['🎉'] });
    double.react({ chat: CHANNEL.id, message: post.message_id, emojis: ['🎉'] });
    await untilRead(here);
    expect(reactions.map(({ sender, emojis }) => [sender.id, ...emojis])).toEqual([
      ['1002', '👎'],
      [String(CHANNEL.id), '🎉'],
    ]);
    expect(reactions.map(({ chat }) => chat.type)).toEqual(['group', 'group']);
  });

  it('have custom emoji replaced by standard emoji, requested once, or by a placeholder if unknown', async () => {
    const here = await startTelegramScene();
    const { double, adapter, reactions, received } = here;
    const { message_id: message } = double.say({ chat: ANN, text: 'q' });
    await adapter.start();
    await double.waitFor(() => received.length === 1);
    const parrot = { custom: '5', like: '🦜' };
    double.react({ chat: ANN, message, emojis: [parrot] });
    double.react({ chat: ANN, message, emojis: ['👍', parrot] });
    await untilRead(here);
    double.fault({ kind: 'reset', method: 'getCustomEmojiStickers' });
    double.react({ chat: ANN, message, emojis: [{ custom: '6', like: '🐙' }] });
    await untilRead(here);
    const place = { chat: { id: ANN, type: 'private' }, message_id: message, date: 1 };
    const user = { id: ANN, is_bot: false, first_name: 'Ann' };
    const paid = { ...place, user, old_reaction: [], new_reaction: [{ type: 'paid' }] };
    double.update('message_reaction', paid);
    await untilRead(here);
    expect(reactions.map(({ emojis }) => emojis)).toEqual([
      ['🦜'],
      ['👍', '🦜'],
      ['custom emoji'],
      ['⭐'],
    ]);
    expect(double.calls('getCustomEmojiStickers')).toHaveLength(2);
  });

  it("[D01] are delivered again when they could not be stored, and keep a group's first id", async () => {
    let failures = 1;
    const reacted = async () => {
      failures -= 1;
      if (failures >= 0) throw new Error('disk is full');
    };
    const here = await startTelegramScene({ reacted, values: createInMemoryAdapterValues() });
    const { double, adapter, reactions, received } = here;
    await adapter.start();
    const chat = double.migrate(GROUP);
    double.promote(chat, double.me.id);
    const { message_id: message } = double.say({ chat, text: 'q' });
    await double.waitFor(() => received.some(({ text }) => text === 'q'));
    double.react({ chat, message, emojis: ['👍'] });
    await double.waitFor(() => reactions.length === 2);
    expect(reactions[1]).toMatchObject({
      chat: { id: String(GROUP), movedTo: String(chat) },
      messageId: `${message}s`,
    });
  });

  it('are truncated when a server reports more than the core accepts', async () => {
    const here = await startTelegramScene();
    const { double, adapter, reactions, received } = here;
    double.say({ chat: ANN, text: 'q' });
    await adapter.start();
    await double.waitFor(() => received.length === 1);
    const emoji = (text: string) => ({ type: 'emoji', emoji: text });
    double.update('message_reaction', {
      chat: { id: ANN, type: 'private' },
      message_id: 5,
      date: 1_790_000_000,
      user: { id: ANN, is_bot: false, first_name: 'Ann' },
      old_reaction: [],
      new_reaction: [
        emoji('x'.repeat(65)),
        emoji(''),
        ...Array.from({ length: 30 }, () => emoji('👍')),
      ],
    });
    await untilRead(here);
    expect(reactions).toHaveLength(1);
    expect(InboundReaction.parse(reactions[0]).emojis.slice(0, 3)).toEqual([
      'custom emoji',
      'custom emoji',
      '👍',
    ]);
  });
});
