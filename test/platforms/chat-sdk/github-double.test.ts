import { createGitHubAdapter, type GitHubAdapter } from '@chat-adapter/github';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { expectFaults, TOO_MANY_REQUESTS } from './double-checks.ts';
import { GitHubDouble } from './doubles/github.ts';
import { hostAdapter, SILENT, type SmallHost } from './small-host.ts';

const REPOSITORY = 'acme/garden';

describe('the GitHub double, driven by the real adapter', () => {
  let double: GitHubDouble;
  let adapter: GitHubAdapter;
  let host: SmallHost;

  const start = async (options: object) => {
    const { apiUrl, webhookSecret } = double;
    adapter = createGitHubAdapter({
      ...{ apiUrl, webhookSecret, userName: 'parley-bot', logger: SILENT },
      ...options,
    });
    host = await hostAdapter(adapter);
    double.deliveries.sendTo(host.url);
  };
  const newIssue = (isPullRequest = false) =>
    double.state.openIssue(REPOSITORY, 'Water the tomatoes', isPullRequest, 'ann');
  const ask = async (issue: number, text = '@parley-bot hello') => {
    const { id } = await double.say({ repository: REPOSITORY, issue, from: 'ann', text });
    const found = await host.waitFor(() =>
      host.messages.find(({ message }) => message.id === `${id}`),
    );
    return found;
  };

  beforeEach(async () => {
    double = await new GitHubDouble().start();
    await start({ token: double.token });
  });
  afterEach(async () => {
    await host.close();
    await double.close();
  });

  it('delivers a comment on an issue and accepts a reply, its edit and its deletion', async () => {
    const issue = newIssue();
    const { threadId, message } = await ask(issue);
    expect(message.text).toBe('@parley-bot hello');
    expect(message.author).toMatchObject({ userName: 'ann', isBot: false, isMe: false });

    const { id } = await adapter.postMessage(threadId, { markdown: 'Good **morning**' });
    const bodies = () =>
      double.state.conversation(REPOSITORY, issue, 'issue').map(({ body }) => body);
    expect(bodies()).toEqual(['@parley-bot hello', 'Good **morning**']);
    await adapter.editMessage(threadId, id, { markdown: 'Good evening' });
    expect(bodies()).toEqual(['@parley-bot hello', 'Good evening']);
    const { messages } = await adapter.fetchMessages(threadId, { direction: 'backward' });
    expect(messages.map(({ author }) => author.isMe)).toEqual([false, true]);
    await adapter.deleteMessage(threadId, id);
    expect(bodies()).toEqual(['@parley-bot hello']);
  });

  it('delivers a comment on a diff and accepts a reply in its thread', async () => {
    const issue = newIssue(true);
    const review = {};
    const saying = { repository: REPOSITORY, issue, from: 'ann', text: 'why?', review };
    const root = await double.say(saying);
    const [first] = host.messages;
    await adapter.postMessage(first?.threadId ?? '', { markdown: 'Because.' });
    expect(double.state.conversation(REPOSITORY, issue, 'review').at(-1)).toMatchObject({
      body: 'Because.',
      inReplyTo: root.id,
    });
  });

  it('adds and removes reactions', async () => {
    const { threadId, message } = await ask(newIssue());
    const reactions = () => double.state.comment('issue', Number(message.id)).reactions;
    await adapter.addReaction(threadId, message.id, 'eyes');
    expect(reactions().map(({ content }) => content)).toEqual(['eyes']);
    await adapter.removeReaction(threadId, message.id, 'eyes');
    expect(reactions()).toEqual([]);
  });

  it('gives an app a token only for a request signed by the app', async () => {
    await host.close();
    const { id: appId, privateKey, installationId } = double.app;
    await start({ appId, privateKey, installationId });
    const issue = newIssue();
    const { threadId } = await ask(issue);
    await adapter.postMessage(threadId, { markdown: 'As an app' });
    const last = double.state.conversation(REPOSITORY, issue, 'issue').at(-1);
    expect(last?.user).toMatchObject({ login: 'parley[bot]', type: 'Bot' });
    const url = `${double.apiUrl}/app/installations/${installationId}/access_tokens`;
    const forged = await fetch(url, { method: 'POST', headers: { authorization: 'Bearer a.b.c' } });
    expect(forged.status).toBe(401);
  });

  it('refuses a wrong token, an empty body, a body that is too long, and a locked issue', async () => {
    const issue = newIssue();
    const { threadId } = await ask(issue);
    const post = (markdown: string) => adapter.postMessage(threadId, { markdown });
    await expect(post('')).rejects.toMatchObject({ status: 422 });
    await expect(post('x'.repeat(65_537))).rejects.toMatchObject({ status: 422 });
    await post('x'.repeat(65_536));
    double.state.lock(REPOSITORY, issue);
    await expect(post('late')).rejects.toMatchObject({ status: 403 });
    await host.close();
    await start({ token: 'ghp_wrong' });
    await expect(post('who am I')).rejects.toMatchObject({ status: 401 });
  });

  it('signs its webhooks, so that the adapter refuses webhooks with another secret', async () => {
    await host.close();
    await start({ token: double.token, webhookSecret: 'another secret' });
    const issue = newIssue();
    await double.say({ repository: REPOSITORY, issue, from: 'ann', text: 'hello' });
    expect(double.deliveries.all[0]).toMatchObject({ attempts: [401], state: 'failed' });
    expect(host.messages).toEqual([]);
  });

  it('repeats a failed delivery only on demand', async () => {
    double.deliveries.loseNext();
    const issue = newIssue();
    await double.say({ repository: REPOSITORY, issue, from: 'ann', text: 'hello' });
    const [lost] = double.deliveries.all;
    expect(lost?.state).toBe('failed');
    const headers = { authorization: `token ${double.token}` };
    const hooks = `${double.apiUrl}/repos/${REPOSITORY}/hooks/1/deliveries`;
    const listed = await (await fetch(hooks, { headers })).json();
    expect(listed).toMatchObject([{ id: lost?.id, status: 'failed to connect to host' }]);
    await fetch(`${hooks}/${lost?.id}/attempts`, { method: 'POST', headers });
    await host.waitFor(() => host.messages.length === 1);
  });

  it('repeats, swaps and delays deliveries', async () => {
    const issue = newIssue();
    const say = (text: string) => double.say({ repository: REPOSITORY, issue, from: 'ann', text });
    const texts = () => host.messages.map(({ message }) => message.text);
    double.deliveries.repeatNext();
    await say('one');
    double.deliveries.swapNext();
    await say('two');
    await say('three');
    double.deliveries.delayNext(50);
    await say('four');
    await say('five');
    await host.waitFor(() => host.messages.length === 6);
    expect(texts()).toEqual(['one', 'one', 'three', 'two', 'five', 'four']);
  });

  it('injects faults before and after the effect', async () => {
    const issue = newIssue();
    const { threadId } = await ask(issue);
    const post = (markdown: string) => adapter.postMessage(threadId, { markdown });
    await expectFaults(double, post, {
      calls: { route: 'POST /repos/:owner/:repo/issues/:number/comments' },
      rateLimited: [TOO_MANY_REQUESTS, { status: 429 }],
      broken: [500, { status: 500 }],
    });
    const bodies = double.state.conversation(REPOSITORY, issue, 'issue').map(({ body }) => body);
    expect(bodies).toEqual(['@parley-bot hello', 'lost after']);
  });
});
