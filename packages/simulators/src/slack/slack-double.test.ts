import { afterEach, describe, expect, it } from 'vitest';
import {
  closeTestResources,
  createWebClient,
  getRefusalData,
  startSlackTestDouble,
} from './testing/slack-client.ts';

afterEach(closeTestResources);

describe('the Web API of the Slack double', () => {
  it('accepts each token only for its own methods', async () => {
    const { double, web } = await startSlackTestDouble();
    expect(await web.auth.test()).toMatchObject({
      ok: true,
      ...{ team_id: double.teamId, user_id: double.me.id, bot_id: double.me.botId },
    });
    const call = (token: string) => getRefusalData(createWebClient(double, token).auth.test());
    expect(await call('xoxb-wrong')).toMatchObject({ error: 'invalid_auth' });
    expect(await call(double.appToken)).toMatchObject({ error: 'not_allowed_token_type' });
    expect(await getRefusalData(web.apps.connections.open({}))).toMatchObject({
      error: 'not_allowed_token_type',
    });
    expect(await getRefusalData(web.apiCall('chat.sing'))).toMatchObject({
      error: 'unknown_method',
    });
    double.uninstall();
    expect(await getRefusalData(web.auth.test())).toMatchObject({ error: 'account_inactive' });
  });

  it('posts, edits and deletes messages and updates the visible conversation', async () => {
    const { double, web, channel } = await startSlackTestDouble();
    const { ts = '', message } = await web.chat.postMessage({
      channel,
      text: `*Hi* <@${double.me.id}>, _see_ <https://a.example|this> &amp; \`that\` 👍`,
    });
    expect(message).toMatchObject({
      bot_id: double.me.botId,
      text: expect.stringContaining(':+1:'),
    });
    expect(double.conversation(channel)).toMatchObject([
      { from: 'bot', ts, text: 'Hi @Parley, see this & that 👍', edits: 0, violations: [] },
    ]);
    await web.chat.update({ channel, ts, text: 'Changed' });
    expect(double.conversation(channel)).toMatchObject([{ text: 'Changed', edits: 1 }]);
    await web.chat.delete({ channel, ts });
    expect(double.conversation(channel)).toEqual([]);
    expect(await getRefusalData(web.chat.delete({ channel, ts }))).toMatchObject({
      error: 'message_not_found',
    });
  });

  it('converts Markdown into blocks', async () => {
    const { double, web, channel } = await startSlackTestDouble();
    const markdown_text =
      '# Title\n\nSome **bold** and `code` for <@U0DBLBOT>.\n\n- one\n- two\n  1. deep\n\n' +
      '```js\nlet a = "<b>";\n```\n\n| a | b |\n|---|---|\n| 1 | **2** |\n\n> quoted';
    const { ts = '' } = await web.chat.postMessage({ channel, markdown_text });
    const [seen] = double.conversation(channel);
    expect(seen?.text).toBe(
      'Title\nSome bold and code for @Parley.\n• one\n• two\n    1. deep\nlet a = "<b>";\n' +
        'a | b\n1 | 2\nquoted',
    );
    expect(seen?.blocks.map(({ type }) => type)).toEqual([
      ...['header', 'rich_text', 'table', 'rich_text'],
    ]);
    const { messages } = await web.conversations.history({ channel });
    expect(messages?.[0]).toMatchObject({
      ts,
      text: expect.stringContaining('Some *bold* and `code` for <@U0DBLBOT>.'),
    });
    const both = { channel, markdown_text: 'a', text: 'b' };
    expect(await getRefusalData(web.apiCall('chat.postMessage', both))).toMatchObject({
      error: 'markdown_text_conflict',
    });
  });

  it('returns pages of history (newest first) and of replies (oldest first)', async () => {
    const { double, web, channel, ann } = await startSlackTestDouble();
    const first = double.say({ channel, text: 'first' }).ts;
    for (const text of ['r1', 'r2', 'r3'])
      await web.chat.postMessage({ channel, thread_ts: first, text });
    double.say({ channel, from: ann, text: 'second' });
    const history = await web.conversations.history({ channel, limit: 1 });
    expect(history).toMatchObject({ has_more: true, messages: [{ text: 'second' }] });
    const cursor = history.response_metadata?.next_cursor ?? '';
    expect(await web.conversations.history({ channel, limit: 1, cursor })).toMatchObject({
      has_more: false,
      messages: [{ text: 'first', reply_count: 3, thread_ts: first }],
    });
    const replies = await web.conversations.replies({ channel, ts: first });
    expect(replies.messages?.map(({ text }) => text)).toEqual(['first', 'r1', 'r2', 'r3']);
    const oldest = replies.messages?.[2]?.ts ?? '';
    const later = await web.conversations.replies({ channel, ts: first, oldest });
    expect(later.messages?.map(({ text }) => text)).toEqual(['first', 'r3']);
    expect(double.conversation(channel)[1]).toMatchObject({ threadTs: first, text: 'r1' });
  });

  it('returns message metadata only on request', async () => {
    const { web, channel } = await startSlackTestDouble();
    const metadata = { event_type: 'part', event_payload: { key: 'k1' } };
    await web.chat.postMessage({ channel, text: 'a', metadata });
    const plain = await web.conversations.history({ channel });
    expect(plain.messages?.[0]).not.toHaveProperty('metadata');
    const all = await web.conversations.history({ channel, include_all_metadata: true });
    expect(all.messages?.[0]).toMatchObject({ metadata });
  });

  it('receives files in three steps and serves files only with the bot token', async () => {
    const { double, web, channel } = await startSlackTestDouble();
    const { ts } = double.say({ channel, text: 'a thread' });
    await web.filesUploadV2({
      ...{ channel_id: channel, thread_ts: ts, initial_comment: 'here', title: 'A' },
      ...{ filename: 'a.txt', file: Buffer.from('inside') },
    });
    const [, sent] = double.conversation(channel);
    expect(sent).toMatchObject({
      ...{ from: 'bot', text: 'here', threadTs: ts },
      files: [{ name: 'a.txt', type: 'text/plain' }],
    });
    expect(Buffer.from(double.file(sent?.files[0]?.id ?? '') ?? []).toString()).toBe('inside');
    const file = { name: 'b.png', bytes: new Uint8Array([1, 2, 3]) };
    const { files: [own] = [] } = double.say({ channel, text: '', files: [file] });
    const authorization = `Bearer ${double.botToken}`;
    const read = await fetch(own?.url_private ?? '', { headers: { authorization } });
    expect(new Uint8Array(await read.arrayBuffer())).toEqual(file.bytes);
    const denied = await fetch(own?.url_private ?? '');
    expect(denied.headers.get('content-type')).toBe('text/html');
  });

  it('shows a streamed message while the bot appends text', async () => {
    const { double, web, direct } = await startSlackTestDouble();
    const { ts: thread_ts } = double.say({ channel: direct, text: 'tell me' });
    await web.assistant.threads.setStatus({ channel_id: direct, thread_ts, status: 'is thinking' });
    expect(double.status(direct, thread_ts)).toBe('is thinking');
    const stream = web.chatStream({ channel: direct, thread_ts, buffer_size: 1 });
    await stream.append({ markdown_text: 'one **tw' });
    expect(double.conversation(direct).at(-1)).toMatchObject({ text: 'one **tw', isGrowing: true });
    await stream.append({ markdown_text: 'o**' });
    await stream.stop();
    expect(double.conversation(direct).at(-1)).toMatchObject({ text: 'one two', isGrowing: false });
    expect(double.status(direct, thread_ts)).toBeUndefined();
  });

  it('shows an ephemeral message to one person, and opens conversations', async () => {
    const { double, web, channel, ann, direct } = await startSlackTestDouble();
    await web.chat.postEphemeral({ channel, user: ann, text: 'only you' });
    expect(double.conversation(channel)).toMatchObject([{ text: 'only you', onlyFor: ann }]);
    const opened = await web.conversations.open({ users: ann });
    expect(opened.channel?.id).toBe(direct);
    const bo = double.addMember({ name: 'Bo', teamId: 'T0OTHER' });
    const group = await web.conversations.open({ users: `${ann},${bo}` });
    const { channel: info } = await web.conversations.info({ channel: group.channel?.id ?? '' });
    expect(info).toMatchObject({ is_mpim: true });
    const { members } = await web.conversations.members({ channel: group.channel?.id ?? '' });
    expect(members).toEqual([ann, bo, double.me.id]);
    expect((await web.users.info({ user: bo })).user).toMatchObject({
      ...{ real_name: 'Bo', team_id: 'T0OTHER', is_stranger: true },
    });
  });

  it('refuses to add or remove the same reaction twice', async () => {
    const { double, web, channel, ann } = await startSlackTestDouble();
    const { ts: timestamp } = double.say({ channel, text: 'nice' });
    const reaction = { channel, timestamp, name: 'thumbsup' };
    await web.reactions.add(reaction);
    expect(await getRefusalData(web.reactions.add(reaction))).toMatchObject({
      error: 'already_reacted',
    });
    double.react({ channel, ts: timestamp, name: 'eyes', from: ann });
    expect(double.conversation(channel)[0]?.reactions).toEqual([
      ['👍', 'bot'],
      ['👀', ann],
    ]);
    await web.reactions.remove(reaction);
    expect(await getRefusalData(web.reactions.remove(reaction))).toMatchObject({
      error: 'no_reaction',
    });
  });
});

describe('validation of calls in the Slack double', () => {
  const section = (text: string) => ({ type: 'section', text: { type: 'mrkdwn', text } });
  const button = (text: string, id: number) => {
    return { type: 'button', text: { type: 'plain_text', text }, action_id: `a${id}` };
  };
  const actions = (count: number) => {
    return { type: 'actions', elements: Array.from({ length: count }, (_, n) => button('b', n)) };
  };

  it.each<[string, object, string, RegExp | undefined]>([
    ['no content', {}, 'no_text', undefined],
    ['an unknown channel', { channel: 'C404', text: 'a' }, 'channel_not_found', undefined],
    ['an unknown thread', { text: 'a', thread_ts: '1.000001' }, 'thread_not_found', undefined],
    ['blocks that are no list', { blocks: '{}' }, 'invalid_blocks_format', undefined],
    [
      'a section of 3,001 characters',
      { blocks: [section('x'.repeat(3001))] },
      'invalid_blocks',
      /less than 3001 characters \[json-pointer:\/blocks\/0\/text\/text\]/,
    ],
    [
      '51 blocks',
      { blocks: Array.from({ length: 51 }, () => ({ type: 'divider' })) },
      'invalid_blocks',
      /no more than 50 items allowed/,
    ],
    [
      '26 buttons in a row',
      { blocks: [actions(26)] },
      'invalid_blocks',
      /no more than 25 items allowed \[json-pointer:\/blocks\/0\/elements\]/,
    ],
    [
      'a long label',
      { blocks: [{ type: 'actions', elements: [button('x'.repeat(76), 1)] }] },
      'invalid_blocks',
      /less than 76 characters/,
    ],
    [
      'an unknown block',
      { blocks: [{ type: 'pony' }] },
      'invalid_blocks',
      /unsupported type: pony/,
    ],
    [
      'blocks that are too long together',
      { blocks: Array.from({ length: 5 }, () => section('x'.repeat(2900))) },
      'msg_blocks_too_long',
      undefined,
    ],
    ['long Markdown', { markdown_text: 'x'.repeat(12_001) }, 'msg_too_long', undefined],
  ])('refuses %s', async (_name, wish, error, reason) => {
    const { web, channel } = await startSlackTestDouble();
    const found = await getRefusalData(web.apiCall('chat.postMessage', { channel, ...wish }));
    expect(found.error).toBe(error);
    if (reason !== undefined) expect(JSON.stringify(found.errors)).toMatch(reason);
  });

  it('truncates text at 40,000 characters, splits text at 4,000, and refuses long edits', async () => {
    const { double, web, channel } = await startSlackTestDouble();
    const sent = await web.chat.postMessage({ channel, text: 'x'.repeat(40_001) });
    expect(sent.response_metadata).toMatchObject({ warnings: ['message_truncated'] });
    expect(double.conversation(channel).map(({ text }) => text.length)).toEqual(
      Array.from({ length: 10 }, () => 4_000),
    );
    const edit = web.chat.update({ channel, ts: sent.ts ?? '', text: 'x'.repeat(4_001) });
    expect(await getRefusalData(edit)).toMatchObject({ error: 'msg_too_long' });
  });

  it('keeps the blocks of a message when only its text is edited', async () => {
    const { double, web, channel } = await startSlackTestDouble();
    const blocks = [section('Sure?'), actions(1)];
    const { ts = '' } = await web.chat.postMessage({ channel, text: 'Sure?', blocks });
    await web.chat.update({ channel, ts, text: 'Done.' });
    expect(double.conversation(channel)).toMatchObject([{ text: 'Sure?', buttons: ['b'] }]);
    await web.chat.update({ channel, ts, text: 'Done.', blocks: [] });
    expect(double.conversation(channel)).toMatchObject([{ text: 'Done.', buttons: [] }]);
  });

  it('hides conversations that do not include the bot', async () => {
    const { double, web, channel } = await startSlackTestDouble();
    const secret = double.addChannel({ name: 'secret', kind: 'private' });
    for (const one of [channel, secret]) double.setBot(one, false);
    const post = (to: string) => getRefusalData(web.chat.postMessage({ channel: to, text: 'a' }));
    expect(await post(channel)).toMatchObject({ error: 'not_in_channel' });
    expect(await post(secret)).toMatchObject({ error: 'channel_not_found' });
    await web.conversations.join({ channel });
    await web.chat.postMessage({ channel, text: 'back' });
    double.archive(channel);
    expect(await post(channel)).toMatchObject({ error: 'is_archived' });
  });

  it('reports Markdown that Slack does not render as a violation', async () => {
    const { double, web, channel } = await startSlackTestDouble();
    await web.chat.postMessage({ channel, text: '**no** [link](https://a.example)\n# no' });
    expect(double.conversation(channel)[0]?.violations).toEqual([
      'Markdown **bold**',
      'a Markdown [link](…)',
      'a Markdown # heading',
    ]);
    await web.chat.postMessage({ channel, text: '`**code**` *yes*' });
    expect(double.conversation(channel)[1]?.violations).toEqual([]);
  });
});
