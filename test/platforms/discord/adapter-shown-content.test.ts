import { getTypedText } from '@parley/core';
import { afterEach, describe, expect, it } from 'vitest';
import { noSignal } from '../adapter-core.ts';
import {
  ANN,
  createPart,
  type DiscordScene,
  endScenes,
  startDiscordScene,
} from './adapter-scene.ts';

const BEN = '200000000000000502';
const DAY_MS = 24 * 60 * 60 * 1000;
afterEach(endScenes);

const POLL = { poll: { question: 'Tea?', answers: ['Yes', 'No'] } };

/** A reply as the gateway sends it without having looked up the answered message. */
function replyTo({ double }: DiscordScene, messageId: string, more: object = {}) {
  const { channelId, guildId } = double;
  const data = {
    id: '900000000000000001',
    channel_id: channelId,
    guild_id: guildId,
    type: 19,
    author: { id: ANN, username: 'ann' },
    content: 'what is this?',
    timestamp: '2026-11-01T10:00:00.000Z',
    message_reference: { type: 0, channel_id: channelId, message_id: messageId },
    ...more,
  };
  double.event('MESSAGE_CREATE', data, guildId);
}

describe('[F16] shared content on Discord', () => {
  it("arrives separately from the sender's text", async () => {
    const here = await startDiscordScene();
    await here.connect();
    const { double, hears } = here;
    const direct = double.dmWith(ANN);
    double.say({ channel: direct, text: '/status', parts: POLL });
    const message = await hears(1);
    expect(message.text).toBe('/status');
    expect(getTypedText(message)).toBe('/status');
    expect(message.quotation?.text).toContain('Poll: Tea?\n- Yes\n- No');
    double.say({ channel: direct, parts: { forward: { text: '/new' } } });
    const passed = await hears(2);
    expect(passed.text).toBe('[Forwarded]\n/new');
    expect(getTypedText(passed)).toBe('');
  });

  it('is read from an answered message that Discord only refers to', async () => {
    const here = await startDiscordScene();
    await here.connect();
    const { double, hears } = here;
    const { id } = double.say({ channel: double.channelId, from: BEN, parts: POLL });
    await hears(1);
    replyTo(here, id);
    const { replyTo: answered } = await hears(2);
    expect(answered).toMatchObject({ messageId: id, senderId: BEN });
    expect(answered?.text).toContain('Poll: Tea?');
    expect(double.calls(`GET /channels/${double.channelId}/messages/${id}`)).toHaveLength(1);
  });

  it('is not requested when it was deleted, and a reply arrives even if the message cannot be read', async () => {
    const here = await startDiscordScene();
    await here.connect();
    const { double, hears } = here;
    const { id } = double.say({ channel: double.channelId, from: BEN, text: 'hello' });
    await hears(1);
    replyTo(here, id, { referenced_message: null });
    expect((await hears(2)).replyTo).toEqual({ messageId: id });
    expect(double.calls('GET /channels/')).toEqual([]);
    double.fault({ kind: 'status', status: 500, times: 9, call: 'GET /channels/' });
    replyTo(here, id, { id: '900000000000000002' });
    expect((await hears(3)).replyTo).toEqual({ messageId: id });
  });

  it('is recorded and does not start a turn when Discord itself wrote it', async () => {
    const here = await startDiscordScene();
    await here.connect();
    const { double, hears, ignored, received } = here;
    const thread = double.thread({ channel: double.channelId, name: 'plans', from: ANN });
    const pinned = double.say({ channel: thread, from: ANN, parts: { type: 6 } });
    double.say({ channel: thread, from: ANN, text: 'the end' });
    await hears(1);
    expect(received).toHaveLength(1);
    expect(ignored.map(({ event, reason }) => [event.chatId, reason])).toEqual(
      expect.arrayContaining([
        [double.channelId, 'written by Discord: a thread was started'],
        [double.channelId, 'written by Discord: a message was pinned'],
      ]),
    );
    const note = ignored.find(({ event }) => event.messageId === pinned.id);
    expect(note?.event).toMatchObject({ senderId: ANN, at: Date.parse(pinned.timestamp) });
  });

  it('is downloaded from a fresh URL when a file in a component has an expired URL', async () => {
    let now = Date.now();
    const clock = () => now;
    const here = await startDiscordScene({ clock, double: { clock } });
    await here.connect();
    const { double, hears } = here;
    const bytes = new TextEncoder().encode('load of the day');
    const kept = double.say({
      channel: double.channelId,
      from: BEN,
      files: [{ name: 'load.txt', bytes, type: 'text/plain' }],
    });
    const [stored] = kept.attachments;
    const file = { url: stored?.url, proxy_url: stored?.url, attachment_id: stored?.id };
    const card = double.say({
      channel: double.channelId,
      webhook: 'ci',
      parts: { components: [{ type: 13, file, name: 'load.txt' }] },
    });
    const { attachments } = await hears(2);
    expect(attachments).toMatchObject([{ kind: 'document', name: 'load.txt' }]);
    const ref = attachments?.[0]?.ref ?? '';
    expect(ref).toContain(`#${double.channelId}/${card.id}/${stored?.id}`);
    const fetched = await here.adapter.files?.fetch(ref, 100, noSignal());
    expect(new TextDecoder().decode(fetched)).toBe('load of the day');
    now += DAY_MS + 1;
    const again = here.adapter.files?.fetch(ref, 100, noSignal());
    await expect(again).rejects.toMatchObject({ failure: { kind: 'gone' } });
    expect(double.calls(`GET /channels/${double.channelId}/messages/${card.id}`)).toHaveLength(1);
  });

  it('[F06] includes reactions that a moderator clears', async () => {
    const here = await startDiscordScene();
    await here.connect();
    const { double, reactions, adapter } = here;
    const { channelId, guildId } = double;
    const sent = await adapter.send(createPart(channelId, 'shall I?'), noSignal());
    const message = sent.platformMessageId;
    double.react({ channel: channelId, message, from: ANN, emoji: '👍' });
    double.react({ channel: channelId, message, from: ANN, emoji: '👀' });
    double.react({ channel: channelId, message, from: BEN, emoji: '👀' });
    const place = { channel_id: channelId, message_id: message, guild_id: guildId };
    const eyes = { ...place, emoji: { id: null, name: '👀' } };
    double.event('MESSAGE_REACTION_REMOVE_EMOJI', eyes, guildId);
    double.event('MESSAGE_REACTION_REMOVE_ALL', place, guildId);
    await double.waitFor(() => reactions.length === 6);
    const by = (person: string) =>
      reactions.filter(({ sender }) => sender.id === person).map(({ emojis }) => emojis);
    expect(by(ANN)).toEqual([['👍'], ['👍', '👀'], ['👍'], []]);
    expect(by(BEN)).toEqual([['👀'], []]);
  });
});
