import { createSlackAdapter } from '@chat-adapter/slack';
import {
  type SlackDouble,
  type SlackDoubleOptions,
  startSlackDouble,
} from '@parley/simulators/slack';
import { Actions, Button, Card, CardText } from 'chat';
import { afterEach, describe, expect, it } from 'vitest';
import { hostAdapter, SILENT, type SmallHost } from './small-host.ts';

type Mode = 'webhook' | 'socket';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** A logger for Slack's client, which otherwise writes to the console. */
const CLIENT_LOG = {
  ...{ debug() {}, info() {}, warn() {}, error() {}, setLevel() {}, setName() {} },
  getLevel: () => 'error' as never,
};

/**
 * Starts a double with a person and a channel, and the adapter behind a request URL or in Socket
 * Mode.
 */
async function start(mode: Mode, options?: SlackDoubleOptions) {
  const double: SlackDouble = await startSlackDouble(options);
  closing.push(() => double.close());
  const { apiUrl, botToken, appToken, signingSecret } = double;
  const adapter = createSlackAdapter({
    ...{ apiUrl, botToken, logger: SILENT, mode },
    ...(mode === 'socket' ? { appToken } : { signingSecret }),
    webClientOptions: { retryConfig: { retries: 0 }, logger: CLIENT_LOG },
  });
  const host: SmallHost = await hostAdapter(adapter);
  closing.push(() => host.close());
  if (mode === 'socket') closing.push(() => adapter.disconnect());
  else await double.setRequestUrl(host.url);
  const ann = double.addMember({ name: 'Ann' });
  const channel = double.addChannel({ name: 'general', members: [ann] });
  return { double, adapter, host, ann, channel, direct: double.directChat(ann) };
}

describe.each<Mode>(['webhook', 'socket'])(
  'the Slack double, driven by the real adapter in %s mode',
  (mode) => {
    it('delivers mentions, edits, deletions, reactions, button presses and commands', async () => {
      const { double, adapter, host, ann, channel } = await start(mode);
      const { ts } = double.say({ channel, text: `<@${double.me.id}> what is *this*?` });
      const { threadId, message } = await host.waitFor(() => host.messages[0]);
      expect(message).toMatchObject({
        isMention: true,
        text: expect.stringContaining('what is this?'),
        author: { userId: ann, isBot: false, isMe: false, fullName: 'Ann' },
      });
      double.reword(channel, ts, 'changed');
      await host.waitFor(() => host.edits[0]);
      const button = Button({ id: 'ok', label: 'Yes', value: 'y' });
      const card = Card({ children: [CardText('Sure?'), Actions([button])] });
      const { id } = await adapter.postMessage(threadId, { card });
      expect(double.conversation(channel).at(-1)).toMatchObject({
        ...{ text: 'Sure?', buttons: ['Yes'], threadTs: ts },
      });
      double.press({ channel, ts: id, label: 'Yes', from: ann });
      const action = await host.waitFor(() => host.actions[0]);
      expect(action).toMatchObject({ actionId: 'ok', value: 'y', messageId: id });
      double.react({ channel, ts: id, name: 'eyes', from: ann });
      const reaction = await host.waitFor(() => host.reactions[0]);
      expect(reaction).toMatchObject({ rawEmoji: 'eyes', added: true });
      double.slash({ channel, command: '/ask', text: 'it', from: ann });
      const command = await host.waitFor(() => host.commands[0]);
      expect(command).toMatchObject({ command: '/ask', text: 'it' });
      double.erase(channel, ts);
      expect(await host.waitFor(() => host.deletions[0])).toMatchObject({ messageId: ts });
    });

    it('receives messages, edits, reactions and files, and returns them as history', async () => {
      const { double, adapter, host, ann, direct } = await start(mode);
      double.say({ channel: direct, text: 'hello' });
      const { threadId, message } = await host.waitFor(() => host.messages[0]);
      expect(adapter.isDM(threadId)).toBe(true);
      const sent = await adapter.postMessage(threadId, { markdown: '**one** of\n- a\n- b' });
      await adapter.editMessage(threadId, sent.id, { markdown: '**two**' });
      await adapter.addReaction(threadId, message.id, 'eyes');
      const files = [{ data: Buffer.from('inside'), filename: 'a.txt', mimeType: 'text/plain' }];
      await adapter.postMessage(threadId, { markdown: 'a file', files });
      const seen = double.conversation(direct);
      expect(seen[0]).toMatchObject({ from: ann, reactions: [['👀', 'bot']] });
      expect(seen[1]).toMatchObject({ from: 'bot', ts: sent.id, text: 'two', edits: 1 });
      expect(seen.flatMap((one) => one.files)).toMatchObject([{ name: 'a.txt' }]);
      const { messages } = await adapter.fetchChannelMessages(`slack:${direct}`);
      expect(messages.find(({ text }) => text === 'two')?.author.isMe).toBe(true);
    });

    it('distinguishes people from other workspaces and other bots', async () => {
      const { double, host } = await start(mode);
      const eve = double.addMember({ name: 'Eve', teamId: 'T0OTHER' });
      const robot = double.addMember({ name: 'Robot', isBot: true });
      const shared = double.addChannel({ name: 'both', members: [eve], sharedWith: 'T0OTHER' });
      double.say({ channel: shared, from: eve, text: 'hello' });
      await host.waitFor(() => host.messages.length === 1);
      double.say({ channel: shared, from: robot, text: 'beep' });
      await host.waitFor(() => host.messages.length === 2);
      expect(host.messages).toMatchObject([
        { message: { author: { userId: eve, isBot: false } } },
        { message: { author: { isBot: true } } },
      ]);
    });

    it.each(['null', 'absent'] as const)(
      'sends messages whose optional fields are %s',
      async (optional) => {
        const { double, host, channel, ann } = await start(mode, { optional });
        const file = { name: 'a.txt', bytes: new Uint8Array([1]) };
        double.say({ channel, text: `<@${double.me.id}> hi`, files: [file] });
        const { message } = await host.waitFor(() => host.messages[0]);
        expect(message).toMatchObject({
          ...{ isMention: true, author: { userId: ann }, attachments: [{ name: 'a.txt' }] },
        });
      },
    );
  },
);
