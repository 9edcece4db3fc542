import { createGoogleChatAdapter, type GoogleChatAdapter } from '@chat-adapter/gchat';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { expectFaults, QUESTION, TOO_MANY_REQUESTS } from './double-checks.ts';
import { GoogleChatDouble } from './doubles/google-chat.ts';
import {
  type ChatSpace,
  getVisibleMessage,
  listPressableButtons,
} from './doubles/google-chat-state.ts';
import { rerouteHosts } from './doubles/reroute.ts';
import { hostAdapter, SILENT, type SmallHost } from './small-host.ts';

describe('the Google Chat double, driven by the real adapter', () => {
  let double: GoogleChatDouble;
  let adapter: GoogleChatAdapter;
  let host: SmallHost;
  let restore: () => void;
  let direct: ChatSpace;

  const start = async (options: object = {}) => {
    const { apiUrl, credentials, endpointUrl, pubsubAccount, app } = double;
    adapter = createGoogleChatAdapter({
      ...{ apiUrl, credentials, endpointUrl, botUserId: app.name, logger: SILENT },
      ...{ pubsubAudience: endpointUrl, pubsubServiceAccountEmail: pubsubAccount },
      ...options,
    });
    host = await hostAdapter(adapter);
    double.interactions.sendTo(host.url);
    double.pushes.sendTo(host.url);
  };
  const ask = async (space = direct, text = 'hello', more: object = {}) => {
    const { name } = await double.say({ space, from: 'ann', text, ...more });
    return host.waitFor(() => host.messages.find(({ message }) => message.id === name));
  };
  const texts = (space = direct) => space.messages.map(getVisibleMessage);

  beforeEach(async () => {
    double = await new GoogleChatDouble().start();
    restore = rerouteHosts(double.hosts);
    direct = double.state.open('direct', 'DIRECT_MESSAGE', ['ann']);
    await start();
  });
  afterEach(async () => {
    restore();
    await host.close();
    await double.close();
  });

  it('delivers a direct message and accepts a reply, its edit and its deletion', async () => {
    const { threadId, message } = await ask();
    expect(message.author).toMatchObject({ userId: 'users/ann', isBot: false, isMe: false });
    expect(adapter.isDM(threadId)).toBe(true);
    const { id } = await adapter.postMessage(threadId, { raw: 'Good *morning*' });
    expect(texts()).toEqual(['hello', 'Good morning']);
    await adapter.editMessage(threadId, id, { raw: 'Good evening' });
    expect(texts()).toEqual(['hello', 'Good evening']);
    const { messages } = await adapter.fetchMessages(threadId, { direction: 'backward' });
    expect(messages.map(({ author }) => author.isMe)).toEqual([false, true]);
    await adapter.deleteMessage(threadId, id);
    expect(texts()).toEqual(['hello']);
  });

  it('answers a mention in its thread', async () => {
    const space = double.state.open('room', 'SPACE', ['ann']);
    const { threadId } = await ask(space, 'and you?', { mention: true });
    expect(adapter.isDM(threadId)).toBe(false);
    await adapter.postMessage(threadId, { raw: 'Fine' });
    const [question, answer] = space.messages;
    expect(answer?.thread).toBe(question?.thread);
    expect(answer?.name).not.toBe(question?.name);
  });

  it('delivers messages that do not mention the app only from subscribed spaces', async () => {
    const space = double.state.open('room', 'SPACE', ['ann']);
    await double.say({ space, from: 'ann', text: 'not for the app' });
    double.isSubscribed = (one) => one === space;
    await ask(space, 'for everyone');
    await ask(space, 'from a bot', { from: 'robot', isBot: true, mention: true });
    expect(host.messages.map(({ message }) => message.author.isBot)).toEqual([false, true]);
    const { name } = await double.say({ space, from: 'ann', text: 'look', mention: true });
    expect(host.messages.filter(({ message }) => message.id === name)).toHaveLength(2);
    await double.react(space, name, '👍', 'ann');
    expect(await host.waitFor(() => host.reactions[0])).toMatchObject({ messageId: name });
  });

  it('delivers a button press', async () => {
    const { threadId } = await ask();
    const { id } = await adapter.postMessage(threadId, { card: QUESTION });
    expect(texts().at(-1)).toBe('May I?');
    expect(listPressableButtons(double.state.message(direct, id))).toMatchObject([
      { text: 'Approve' },
    ]);
    await double.press(direct, id, 'Approve', 'ann');
    const action = await host.waitFor(() => host.actions[0]);
    expect(action).toMatchObject({ actionId: 'yes', value: '42', messageId: id });
    expect(action.user).toMatchObject({ userId: 'users/ann' });
  });

  it("accepts and removes the app's reactions", async () => {
    const { threadId, message } = await ask();
    const reactions = () => double.state.message(direct, message.id).reactions;
    await adapter.addReaction(threadId, message.id, 'eyes');
    expect(reactions().map(({ unicode }) => unicode)).toEqual(['👀']);
    await adapter.removeReaction(threadId, message.id, 'eyes');
    expect(reactions()).toEqual([]);
  });

  it('serves the files of messages to the app', async () => {
    const file = { name: 'a.txt', type: 'text/plain', bytes: Buffer.from('inside') };
    const { message } = await ask(direct, 'read this', { files: [file] });
    const [attachment] = message.attachments;
    expect(attachment).toMatchObject({ name: 'a.txt', mimeType: 'text/plain' });
    expect((await attachment?.fetchData?.())?.toString()).toBe('inside');
  });

  it('names its audience in the token of each call, so that another app refuses the call', async () => {
    await host.close();
    await start({ endpointUrl: 'https://elsewhere.example.com/' });
    await double.say({ space: direct, from: 'ann', text: 'hello' });
    expect(double.interactions.all[0]).toMatchObject({ attempts: [401], state: 'failed' });
    expect((await fetch(host.url, { method: 'POST', body: '{}' })).status).toBe(401);
    expect(host.messages).toEqual([]);
  });

  it('refuses a foreign key, an empty message, a message that is too long, and a removed app', async () => {
    const { threadId } = await ask();
    const post = (raw: string) => adapter.postMessage(threadId, { raw });
    await expect(post('é'.repeat(16_001))).rejects.toMatchObject({ status: 400 });
    await post('é'.repeat(16_000));
    await expect(post(' ')).rejects.toMatchObject({ status: 400 });
    direct.hasApp = false;
    await expect(post('anyone?')).rejects.toMatchObject({ status: 403 });
    direct.hasApp = true;
    await host.close();
    const other = await new GoogleChatDouble().start();
    const { client_email } = double.credentials;
    await start({ credentials: { client_email, private_key: other.credentials.private_key } });
    await other.close();
    await expect(post('who am I')).rejects.toThrow(/invalid_grant/);
  });

  it('sends a message once when the app repeats its request id', async () => {
    await ask();
    await adapter.postMessage(`gchat:${direct.name}`, { raw: 'first' });
    const { headers } = double.calls.findLast(({ route }) => route.startsWith('POST /v1')) ?? {};
    const url = `${double.apiUrl}/v1/${direct.name}/messages?requestId=r1`;
    const send = async () => {
      const body = JSON.stringify({ text: 'second' });
      const { authorization = '' } = headers ?? {};
      return (await fetch(url, { method: 'POST', body, headers: { authorization } })).json();
    };
    expect(await send()).toEqual(await send());
    expect(texts()).toEqual(['hello', 'first', 'second']);
  });

  it('repeats pushes until they are accepted, but never interactions', async () => {
    double.interactions.loseNext();
    await double.say({ space: direct, from: 'ann', text: 'lost' });
    expect(double.interactions.all[0]?.state).toBe('failed');
    double.isSubscribed = () => true;
    double.interactions.loseNext();
    double.pushes.loseNext();
    await ask(direct, 'not lost');
    expect(host.messages).toHaveLength(1);
  });

  it('injects faults before and after the effect', async () => {
    const { threadId } = await ask();
    const post = (raw: string) => adapter.postMessage(threadId, { raw });
    await expectFaults(double, post, {
      calls: { route: 'POST /v1/spaces/:space/messages' },
      rateLimited: [TOO_MANY_REQUESTS, { code: 'RATE_LIMITED' }],
      broken: [503, { status: 503 }],
    });
    expect(texts()).toEqual(['hello', 'lost after']);
  });
});
