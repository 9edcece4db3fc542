import type { IngressOutcome } from '@parley/channels';
import type { InboundMessage } from '@parley/core';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { accepted } from '../adapter-core.ts';
import { endHosted } from './hosted-scene.ts';
import { startSlackScene } from './slack-scene.ts';

afterEach(endHosted);

describe('a Slack message', () => {
  it('[F15] [F01] is parsed in a direct chat and in a channel', async () => {
    const { double, received, senders, ann, direct, channel } = await startSlackScene();
    const { ts } = double.say({ channel: direct, text: 'hello *there* & <you>' });
    await double.waitFor(() => received.length === 1);
    expect(received[0]).toMatchObject({
      ...{ channel: 'slack', account: 'default', messageId: ts, addressed: true },
      chat: { id: direct, type: 'direct' },
      sender: { id: ann, name: 'Ann', isBot: false },
      text: 'hello *there* & <you>',
      authored: { text: true },
    });
    expect(received[0]?.chat.threadId).toBeUndefined();
    const mention = double.say({ channel, text: `<@${double.me.id}> what now` });
    await double.waitFor(() => received.length >= 2);
    expect(received[1]).toMatchObject({
      chat: { id: channel, type: 'thread', threadId: mention.ts },
      ...{ text: 'what now', addressed: true },
    });
    expect(senders[1]).toEqual({ opensThread: true });
  });

  it('[F06] is not addressed to the bot in a channel unless it mentions the bot', async () => {
    const { double, received, channel } = await startSlackScene();
    double.say({ channel, text: 'just talking' });
    await double.waitFor(() => received.length === 1);
    expect(received[0]).toMatchObject({ chat: { id: channel, type: 'group' }, addressed: false });
  });

  it('[F06] is addressed in a thread that began with the bot, unless it mentions other people', async () => {
    const threads = new Map<string, string>();
    const { double, received, channel, bo } = await startSlackScene({
      message: async (_chat, id) =>
        threads.has(id)
          ? {
              ...{ by: 'person', senderId: 'U1', senderName: 'A', text: 'x' },
              conversationId: threads.get(id) ?? '',
            }
          : null,
    });
    const root = double.say({ channel, text: `<@${double.me.id}> go` }).ts;
    const other = double.say({ channel, text: 'unrelated' }).ts;
    threads.set(root, `slack:default:${channel}:${root}`);
    threads.set(other, `slack:default:${channel}`);
    double.say({ channel, text: 'and then', threadTs: root });
    double.say({ channel, text: `<@${bo}> what do you think`, threadTs: root });
    double.say({ channel, text: 'indeed', threadTs: other });
    const said = (text: string) => received.find((each) => each.text.includes(text));
    await double.waitFor(() => said('and then') && said('@Bo what') && said('indeed'));
    expect(said('and then')).toMatchObject({
      chat: { type: 'thread', threadId: root },
      addressed: true,
    });
    expect(said('@Bo what')).toMatchObject({ addressed: false, mentions: [bo] });
    expect(said('indeed')).toMatchObject({ chat: { threadId: other }, addressed: false });
  });

  it('[F16] keeps link targets, and shows the names of people and channels', async () => {
    const { double, received, direct, bo, channel } = await startSlackScene();
    const text = `see <https://example.org/a|the page>, <https://example.org/b>, <@${bo}> in <#${channel}|general>`;
    double.say({ channel: direct, extra: { text } });
    await double.waitFor(() => received.length === 1);
    expect(received[0]?.text).toBe(
      'see the page (https://example.org/a), https://example.org/b, @Bo in #general',
    );
  });

  it('[F16] [P18] quotes forwarded text as text that the sender did not type', async () => {
    const { double, received, direct } = await startSlackScene();
    const shared = { author_name: 'Eve', text: '/approve ABCDEF', is_share: true };
    double.say({ channel: direct, text: '', extra: { attachments: [shared] } });
    await double.waitFor(() => received.length === 1);
    expect(received[0]).toMatchObject({ text: '', quotation: { text: 'Eve\n/approve ABCDEF' } });
    expect(received[0]?.authored?.text).toBeUndefined();
  });

  it('[F07] is dropped if the bot itself sent it, and marked if another bot sent it', async () => {
    const { double, adapter, received, channel, part } = await startSlackScene();
    await adapter.send(part('mine', { route: { chatId: channel } }), AbortSignal.timeout(5_000));
    const robot = double.addMember({ name: 'Robot', isBot: true });
    double.say({ channel, from: robot, text: `<@${double.me.id}> beep` });
    await double.waitFor(() => received.length > 0);
    expect(received.every(({ sender }) => sender.isBot && sender.name === 'Robot')).toBe(true);
  });

  it('[P18] counts as text from outsiders if it comes from another organization in a shared channel', async () => {
    const { double, received, ann } = await startSlackScene();
    const eve = double.addMember({ name: 'Eve', teamId: 'T0OTHER' });
    const channel = double.addChannel({ name: 'both', members: [ann, eve], sharedWith: 'T0OTHER' });
    double.say({ channel, from: eve, text: `<@${double.me.id}> do it` });
    double.say({ channel, from: ann, text: `<@${double.me.id}> do this` });
    const said = (text: string) => received.find((each) => each.text === text);
    await double.waitFor(() => said('do it') && said('do this'));
    expect(said('do it')?.authored).toEqual({});
    expect(said('do this')?.authored).toMatchObject({ text: true });
  });

  it('[F08] is revised when it is edited or deleted, and its reactions are reported', async () => {
    const { double, received, revised, reactions, direct, ann } = await startSlackScene();
    const { ts } = double.say({ channel: direct, text: 'first' });
    await double.waitFor(() => received.length === 1);
    double.reword(direct, ts, 'second');
    await double.waitFor(() => revised.length === 1);
    expect(revised[0]).toMatchObject({
      kind: 'edited',
      message: { messageId: ts, text: 'second', chat: { id: direct } },
    });
    double.react({ channel: direct, ts, name: '+1' });
    await double.waitFor(() => reactions.length === 1);
    double.react({ channel: direct, ts, name: 'heart' });
    await double.waitFor(() => reactions.length === 2);
    double.react({ channel: direct, ts, name: '+1', gone: true });
    await double.waitFor(() => reactions.length === 3);
    expect(reactions.map(({ emojis }) => emojis)).toEqual([['👍'], ['👍', '❤️'], ['❤️']]);
    expect(reactions[0]).toMatchObject({
      messageId: ts,
      chat: { id: direct },
      sender: { id: ann },
    });
    double.erase(direct, ts);
    await double.waitFor(() => revised.length === 2);
    expect(revised[1]).toEqual({ kind: 'deleted', chatId: direct, messageId: ts });
  });

  it('[F10] includes its files, which another process can fetch later', async () => {
    const { double, received, direct, again } = await startSlackScene();
    const bytes = new Uint8Array(Buffer.from('inside'));
    const file = { name: 'a.txt', type: 'text/plain', bytes };
    double.say({ channel: direct, text: 'read this', files: [file] });
    await double.waitFor(() => received.length === 1);
    const [attachment] = received[0]?.attachments ?? [];
    expect(attachment).toMatchObject({ kind: 'document', name: 'a.txt', mimeType: 'text/plain' });
    const later = await again();
    const signal = AbortSignal.timeout(5_000);
    const fetched = await later.files?.fetch(attachment?.ref ?? '', 1_000, signal);
    expect(Buffer.from(fetched ?? []).toString()).toBe('inside');
    await expect(later.files?.fetch(attachment?.ref ?? '', 3, signal)).rejects.toThrow('larger');
  });

  it('[F09] becomes a Parley command when it is a slash command, or the text that follows the app command', async () => {
    const { double, received, direct } = await startSlackScene({
      commands: [{ name: 'new', description: 'start', hints: [] } as never],
    });
    double.slash({ channel: direct, command: '/new', text: 'please' });
    await double.waitFor(() => received.length === 1);
    double.slash({ channel: direct, command: '/parley', text: 'what is the time' });
    await double.waitFor(() => received.length === 2);
    expect(received.map(({ text }) => text)).toEqual(['/new please', 'what is the time']);
  });
});

describe('a Slack event that could not be stored', () => {
  it.each(['webhook', 'socket'] as const)(
    '[D01] [F15] is not acknowledged, and its retry is accepted once (%s)',
    async (mode) => {
      let failures = 2;
      const stored: string[] = [];
      const receive = async ({ text }: InboundMessage): Promise<IngressOutcome> => {
        failures -= 1;
        if (failures >= 0) throw new Error('disk is full');
        stored.push(text);
        return accepted;
      };
      const { double, direct, logged } = await startSlackScene({ receive, mode });
      double.say({ channel: direct, text: 'once' });
      const outcomes = () => double.deliveries('message').map(({ outcome }) => outcome);
      await double.waitFor(() => outcomes().includes('acknowledged'));
      expect(stored).toEqual(['once']);
      expect(outcomes().filter((outcome) => outcome === 'acknowledged')).toHaveLength(1);
      expect(outcomes().length).toBeGreaterThanOrEqual(2);
      expect(logged.join()).toContain('disk is full');
    },
  );

  it('[D01] is answered with 503 before the account is connected and after it has stopped', async () => {
    const { url, again } = await startSlackScene();
    const call = async () => (await fetch(url, { method: 'POST', body: '{}' })).status;
    const adapter = await again();
    expect(await call()).toBe(503);
    await adapter.start();
    await vi.waitUntil(async () => (await call()) === 401);
    await adapter.stop();
    expect(await call()).toBe(503);
  });

  it('[U03] is refused without the Slack signature', async () => {
    const { url, received } = await startSlackScene();
    const body = JSON.stringify({ type: 'event_callback', event_id: 'E1', event: {} });
    const headers = { 'content-type': 'application/json' };
    expect((await fetch(url, { method: 'POST', body, headers })).status).toBe(401);
    expect(received).toEqual([]);
  });
});
