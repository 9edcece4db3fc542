import { createTeamsAdapter, type TeamsAdapter } from '@chat-adapter/teams';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { expectFaults, expectRedeliveries, QUESTION, TOO_MANY_REQUESTS } from './double-checks.ts';
import { rerouteHosts } from './doubles/reroute.ts';
import { TeamsDouble } from './doubles/teams.ts';
import { getVisibleText, type TeamsConversation } from './doubles/teams-state.ts';
import { hostAdapter, SILENT, type SmallHost } from './small-host.ts';

describe('the Teams double, driven by the real adapter', () => {
  let double: TeamsDouble;
  let adapter: TeamsAdapter;
  let host: SmallHost;
  let restore: () => void;
  let chat: TeamsConversation;

  const start = async (options: object = {}) => {
    const { appId, appPassword, tenantId } = double;
    adapter = createTeamsAdapter({
      ...{ appId, appPassword, appTenantId: tenantId, logger: SILENT },
      ...options,
    });
    host = await hostAdapter(adapter);
    double.deliveries.sendTo(host.url);
  };
  const ask = async (conversation = chat, text = 'hello', more: object = {}) => {
    const { id } = await double.say({ conversation, from: 'ann', text, ...more });
    return host.waitFor(() => host.messages.find(({ message }) => message.id === id));
  };
  const texts = () => chat.messages.map(getVisibleText);

  beforeEach(async () => {
    double = await new TeamsDouble().start();
    restore = rerouteHosts(double.hosts);
    chat = double.state.open('a:ann', 'personal', ['ann']);
    await start();
  });
  afterEach(async () => {
    restore();
    await host.close();
    await double.close();
  });

  it('delivers a direct message and accepts a reply, its edit and its deletion', async () => {
    const { threadId, message } = await ask();
    expect(message.text).toBe('hello');
    expect(message.author).toMatchObject({ userId: '29:ann', email: 'ann@contoso.com' });
    expect(adapter.isDM(threadId)).toBe(true);
    const { id } = await adapter.postMessage(threadId, { markdown: 'Good **morning**' });
    expect(texts()).toEqual(['hello', 'Good morning']);
    await adapter.editMessage(threadId, id, { markdown: 'Good evening' });
    expect(texts()).toEqual(['hello', 'Good evening']);
    await adapter.startTyping(threadId);
    expect(double.typing).toEqual(['a:ann']);
    await adapter.deleteMessage(threadId, id);
    expect(texts()).toEqual(['hello']);
  });

  it('answers in the thread of a channel, and delivers only mentions unless the app may read all messages', async () => {
    double.readsAll = false;
    const conversation = double.state.open('19:plans@thread.tacv2', 'channel', ['ann']);
    await double.say({ conversation, from: 'ann', text: 'not for the bot' });
    const { threadId, message } = await ask(conversation, 'and you?', { mention: true });
    expect(host.messages).toHaveLength(1);
    expect(message.isMention).toBe(true);
    expect(adapter.isDM(threadId)).toBe(false);
    await adapter.postMessage(threadId, { markdown: 'Fine' });
    const [, root, answer] = conversation.messages;
    expect(answer).toMatchObject({ text: 'Fine', thread: root?.id });
  });

  it('delivers a button press', async () => {
    const { threadId } = await ask();
    const { id } = await adapter.postMessage(threadId, { card: QUESTION });
    expect(texts().at(-1)).toBe('May I?');
    await double.press(chat, id, 'Approve', 'ann');
    const action = await host.waitFor(() => host.actions[0]);
    expect(action).toMatchObject({ actionId: 'yes', value: '42', messageId: id });
    expect(action.user).toMatchObject({ userId: '29:ann' });
  });

  it("delivers people's reactions and accepts the bot's", async () => {
    const { threadId, message } = await ask();
    await double.react(chat, message.id, 'like', 'ann');
    await host.waitFor(() => host.reactions[0]);
    expect(host.reactions[0]).toMatchObject({ added: true, messageId: message.id });
    await adapter.addReaction(threadId, message.id, 'heart');
    expect([...double.reactions]).toEqual([`${message.id}: heart`]);
    await adapter.removeReaction(threadId, message.id, 'heart');
    expect([...double.reactions]).toEqual([]);
  });

  it('serves pictures only to the bot and files to the holder of their link, and accepts pictures', async () => {
    const picture = { kind: 'picture', name: 'a.png', type: 'image/png', bytes: Buffer.from('P') };
    const file = { kind: 'document', name: 'a.txt', type: 'text/plain', bytes: Buffer.from('T') };
    const { threadId, message } = await ask(chat, 'look', { files: [picture, file] });
    const [first, second] = message.attachments;
    expect((await first?.fetchData?.())?.toString()).toBe('P');
    expect((await fetch(first?.url ?? '')).status).toBe(401);
    expect(second?.name).toBe('a.txt');
    const files = [{ data: Buffer.from('out'), filename: 'out.png', mimeType: 'image/png' }];
    await adapter.postMessage(threadId, { markdown: 'here', files });
    expect(chat.messages.at(-1)?.attachments).toMatchObject([{ name: 'out.png' }]);
  });

  it('lists its messages through Graph, newest first', async () => {
    const { threadId } = await ask();
    await adapter.postMessage(threadId, { markdown: 'one' });
    await adapter.postMessage(threadId, { markdown: 'two' });
    const { messages } = await adapter.fetchMessages(threadId, { direction: 'backward', limit: 2 });
    expect(messages.map(({ text }) => text)).toEqual(['one', 'two']);
    expect(messages.map(({ author }) => author.isMe)).toEqual([true, true]);
  });

  it('signs its calls for this bot, so that the adapter refuses them as another bot', async () => {
    await host.close();
    await start({ appId: '00000000-0000-4000-8000-000000000000' });
    await double.say({ conversation: chat, from: 'ann', text: 'hello' });
    expect(double.deliveries.all[0]?.attempts).toEqual([401]);
    expect(host.messages).toEqual([]);
    const forged = await fetch(host.url, { method: 'POST', body: '{}' });
    expect(forged.status).toBe(401);
  });

  it('refuses a wrong secret, an empty message, a message that is too long, and a removed bot', async () => {
    const { threadId } = await ask();
    const post = (markdown: string) => adapter.postMessage(threadId, { markdown });
    await expect(post('x'.repeat(41_000))).rejects.toThrow(/413/);
    await expect(post(' ')).rejects.toThrow(/400/);
    chat.hasBot = false;
    await expect(post('anyone?')).rejects.toThrow(/permission/i);
    chat.hasBot = true;
    await host.close();
    await start({ appPassword: 'wrong' });
    await expect(post('who am I')).rejects.toThrow(/Invalid client secret/);
    expect(texts()).toEqual(['hello']);
  });

  it('repeats messages that the bot has not accepted', async () => {
    await expectRedeliveries(double, host, (text) => ask(chat, text));
  });

  it('injects faults before and after the effect', async () => {
    const { threadId } = await ask();
    const post = (markdown: string) => adapter.postMessage(threadId, { markdown });
    await expectFaults(double, post, {
      calls: { route: 'POST /emea/v3/conversations/:conversation/activities' },
      rateLimited: [TOO_MANY_REQUESTS, { code: 'RATE_LIMITED' }],
      broken: [502, { message: expect.stringContaining('502') }],
    });
    expect(texts()).toEqual(['hello', 'lost after']);
  });
});
