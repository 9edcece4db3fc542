import { Actions, Button, Card, CardText } from 'chat';
import { afterEach, describe, expect, it } from 'vitest';
import type { SlackDoubleOptions } from './slack-double.ts';
import { type HostEvent, hostAdapter, serveAdapter } from './testing/adapter-host.ts';
import { endAll, start } from './testing/slack-client.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
  await endAll();
});

/** The adapter behind a request URL, or in Socket Mode. */
async function connected(mode: 'webhook' | 'socket', options?: SlackDoubleOptions) {
  const all = await start(options);
  const { adapter, heard } = await hostAdapter(all.double, { mode });
  if (mode === 'webhook') {
    const { url, close } = await serveAdapter(adapter);
    closing.push(close);
    await all.double.setRequestUrl(url);
  } else closing.push(() => adapter.disconnect());
  const until = <Kind extends HostEvent['kind']>(kind: Kind) =>
    all.double.waitFor(() =>
      heard.find((one): one is Extract<HostEvent, { kind: Kind }> => one.kind === kind),
    );
  return { ...all, adapter, heard, until };
}

describe.each(['webhook', 'socket'] as const)("the Chat SDK's Slack adapter, by %s", (mode) => {
  it('hears mentions, edits, deletions, reactions, presses and commands', async () => {
    const { double, adapter, channel, ann, until } = await connected(mode);
    const { ts } = double.say({ channel, text: `<@${double.me.id}> what is *this*?` });
    const { threadId, message } = await until('message');
    expect(message).toMatchObject({
      isMention: true,
      text: expect.stringContaining('what is this?'),
      author: { userId: ann, isBot: false, isMe: false, fullName: 'Ann' },
    });
    double.reword(channel, ts, 'changed');
    await until('updated');
    const card = Card({
      children: [CardText('Sure?'), Actions([Button({ id: 'ok', label: 'Yes', value: 'y' })])],
    });
    const { id } = await adapter.postMessage(threadId, { card });
    expect(double.conversation(channel).at(-1)).toMatchObject({
      ...{ text: 'Sure?', buttons: ['Yes'], threadTs: ts },
    });
    double.press({ channel, ts: id, label: 'Yes', from: ann });
    expect(await until('action')).toMatchObject({ actionId: 'ok', value: 'y' });
    double.react({ channel, ts: id, name: 'eyes', from: ann });
    expect(await until('reaction')).toMatchObject({ emoji: 'eyes', added: true });
    double.slash({ channel, command: '/ask', text: 'it', from: ann });
    expect(await until('command')).toMatchObject({ command: '/ask', text: 'it' });
    double.erase(channel, ts);
    await until('deleted');
  });

  it('posts, edits, reacts, uploads and reads the history', async () => {
    const { double, adapter, direct, ann, until } = await connected(mode);
    const { ts } = double.say({ channel: direct, text: 'hello' });
    const { threadId, message } = await until('message');
    expect(adapter.isDM(threadId)).toBe(true);
    const sent = await adapter.postMessage(threadId, { markdown: '**one** of\n- a\n- b' });
    await adapter.editMessage(threadId, sent.id, { markdown: '**two**' });
    await adapter.addReaction(threadId, message.id, 'eyes');
    const files = [{ data: Buffer.from('inside'), filename: 'a.txt', mimeType: 'text/plain' }];
    await adapter.postMessage(threadId, { markdown: 'a file', files });
    const seen = double.conversation(direct);
    expect(seen[0]).toMatchObject({ from: ann, reactions: [['👀', 'bot']] });
    expect(seen[1]).toMatchObject({
      from: 'bot',
      ts: sent.id,
      text: 'two',
      edits: 1,
      violations: [],
    });
    expect(seen.flatMap((one) => one.files)).toMatchObject([{ name: 'a.txt' }]);
    const { messages } = await adapter.fetchChannelMessages(`slack:${direct}`);
    expect(messages.map(({ author }) => author.isMe)).toContain(true);
    expect(messages.map(({ text }) => text)).toContain('two');
    expect(ts).toBe(message.id);
  });

  it('recognizes people of other workspaces and other bots', async () => {
    const { double, heard } = await connected(mode);
    const eve = double.addMember({ name: 'Eve', teamId: 'T0OTHER' });
    const robot = double.addMember({ name: 'Robot', isBot: true });
    const shared = double.addChannel({ name: 'both', members: [eve], sharedWith: 'T0OTHER' });
    double.say({ channel: shared, from: eve, text: 'hello' });
    await double.waitFor(() => heard.length === 1);
    double.say({ channel: shared, from: robot, text: 'beep' });
    await double.waitFor(() => heard.length === 2);
    expect(heard).toMatchObject([
      { message: { author: { userId: eve, isBot: false } } },
      { message: { author: { isBot: true } } },
    ]);
  });

  it.each(['null', 'absent'] as const)(
    'reads messages with optional fields %s',
    async (optional) => {
      const { double, heard, channel, ann } = await connected(mode, { optional });
      const file = { name: 'a.txt', bytes: new Uint8Array([1]) };
      double.say({ channel, text: `<@${double.me.id}> hi`, files: [file] });
      await double.waitFor(() => heard.length > 0);
      expect(heard[0]).toMatchObject({
        kind: 'message',
        message: { isMention: true, author: { userId: ann }, attachments: [{ name: 'a.txt' }] },
      });
    },
  );
});
