import { createLinearAdapter, type LinearAdapter } from '@chat-adapter/linear';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { expectFaults, expectRedeliveries } from './double-checks.ts';
import { LinearDouble } from './doubles/linear.ts';
import { hostAdapter, SILENT, type SmallHost } from './small-host.ts';

describe('the Linear double, driven by the real adapter', () => {
  let double: LinearDouble;
  let adapter: LinearAdapter;
  let host: SmallHost;
  let issueId: string;

  const start = async (options: object = {}) => {
    const { apiUrl, apiKey, webhookSecret } = double;
    adapter = createLinearAdapter({
      ...{ apiUrl, apiKey, webhookSecret, logger: SILENT },
      ...options,
    });
    host = await hostAdapter(adapter);
    double.deliveries.sendTo(host.url);
  };
  const ask = async (text = 'hello', parentId?: string) => {
    const { id } = await double.say({ issueId, from: 'ann', text, parentId });
    return host.waitFor(() => host.messages.find(({ message }) => message.id === id));
  };
  const bodies = () => double.state.conversation(issueId).map(({ body }) => body);

  beforeEach(async () => {
    double = await new LinearDouble().start();
    issueId = double.state.openIssue('Water the tomatoes');
    await start();
  });
  afterEach(async () => {
    await host.close();
    await double.close();
  });

  it('delivers a comment and accepts a reply in its thread, its edit and its deletion', async () => {
    const { threadId, message } = await ask();
    expect(message.author).toMatchObject({ userName: 'ann', isMe: false });
    const { id } = await adapter.postMessage(threadId, { raw: 'Good **morning**' });
    expect(bodies()).toEqual(['hello', 'Good **morning**']);
    expect(double.state.comments.get(id)?.parentId).toBe(message.id);
    await adapter.editMessage(threadId, id, { raw: 'Good evening' });
    expect(bodies()).toEqual(['hello', 'Good evening']);
    const { messages } = await adapter.fetchMessages(threadId, { direction: 'backward' });
    expect(messages.map(({ text, author }) => [text, author.isMe])).toEqual([
      ['hello', false],
      ['Good evening', true],
    ]);
    await adapter.deleteMessage(threadId, id);
    expect(bodies()).toEqual(['hello']);
  });

  it('names the issue, and accepts comments outside threads', async () => {
    const threadId = `linear:${issueId}`;
    expect(await adapter.fetchThread(threadId)).toMatchObject({
      channelName: 'ENG-1: Water the tomatoes',
    });
    await adapter.postMessage(threadId, { raw: 'On my own' });
    const { messages } = await adapter.fetchMessages(threadId);
    expect(messages.map(({ text }) => text)).toEqual(['On my own']);
  });

  it('accepts reactions', async () => {
    const { threadId, message } = await ask();
    await adapter.addReaction(threadId, message.id, 'eyes');
    const { reactions } = double.state.comments.get(message.id) ?? {};
    expect(reactions?.map(({ emoji }) => emoji)).toEqual(['👀']);
  });

  it('refuses a wrong key, an empty or too long comment, and a comment outside an issue', async () => {
    const { threadId } = await ask();
    const post = (raw: string, thread = threadId) => adapter.postMessage(thread, { raw });
    await expect(post(' ')).rejects.toThrow(/empty/);
    await expect(post('x'.repeat(65_537))).rejects.toThrow(/too long/);
    await expect(post('where?', `linear:${crypto.randomUUID()}`)).rejects.toThrow(/not found/);
    await host.close();
    await start({ apiKey: 'lin_api_wrong' });
    await expect(post('who am I')).rejects.toThrow(/[Aa]uthentication/);
    expect(bodies()).toEqual(['hello']);
  });

  it('signs its webhooks, so that the adapter refuses webhooks with another secret', async () => {
    await host.close();
    await start({ webhookSecret: 'another' });
    await double.say({ issueId, from: 'ann', text: 'hello' });
    expect(double.deliveries.all[0]?.attempts).toEqual([400]);
    expect(host.messages).toEqual([]);
  });

  it('repeats events that the bot has not accepted', async () => {
    await expectRedeliveries(double, host, ask);
  });

  it('returns only the requested fields of a query, and reports unknown fields', async () => {
    const run = async (query: string) => {
      const headers = { authorization: double.apiKey };
      const body = JSON.stringify({ query });
      return (await fetch(double.apiUrl, { method: 'POST', headers, body })).json();
    };
    const named = `{ me: viewer { ...Name } issue(id: "${issueId}") { title } }
      fragment Name on User { name organization { id } }`;
    const { organizationId } = double.state;
    expect(await run(named)).toEqual({
      data: {
        me: { name: 'parley', organization: { id: organizationId } },
        issue: { title: 'Water the tomatoes' },
      },
    });
    const wrong = { errors: [{ extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } }] };
    expect(await run('{ weather { today } }')).toMatchObject(wrong);
    expect(await run('{ viewer { name }')).toMatchObject(wrong);
  });

  it('injects faults before and after the effect', async () => {
    const { threadId } = await ask();
    const post = (raw: string) => adapter.postMessage(threadId, { raw });
    const errors = [{ message: 'Rate limit exceeded', extensions: { code: 'RATELIMITED' } }];
    await expectFaults(double, post, {
      calls: { where: ({ body }) => body.includes('commentCreate') },
      rateLimited: [
        { status: 400, body: { errors } },
        { message: expect.stringMatching(/rate ?limit/i) },
      ],
      broken: [500, { message: expect.stringContaining('500') }],
    });
    expect(bodies()).toEqual(['hello', 'lost after']);
  });
});
