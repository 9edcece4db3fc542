import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ChatStateBeforePart } from '@parley/channels';
import type { OutboundPart } from '@parley/core';
import { afterEach, describe, expect, it } from 'vitest';
import { readFailure } from '../adapter-core.ts';
import { endHosted } from './hosted-scene.ts';
import { type SlackScene, startSlackScene } from './slack-scene.ts';

afterEach(endHosted);

const soon = () => AbortSignal.timeout(10_000);
const nothing: ChatStateBeforePart = { known: [], uncertainAt: null };

async function sent({ adapter }: SlackScene, part: OutboundPart): Promise<string> {
  return (await adapter.send(part, soon())).platformMessageId;
}

describe('a message part sent to Slack', () => {
  it('[F15] [F03] appears in its chat or thread', async () => {
    const scene = await startSlackScene();
    const { double, direct, channel, part } = scene;
    const ts = await sent(scene, part('*hello*'));
    expect(double.conversation(direct)).toMatchObject([{ ts, from: 'bot', text: 'hello' }]);
    const root = double.say({ channel, text: 'question' }).ts;
    const route = { chatId: channel, threadId: root, replyToMessageId: root };
    await sent(scene, part('answer', { route }));
    expect(double.conversation(channel).at(-1)).toMatchObject({ text: 'answer', threadTs: root });
  });

  it('[G05] has buttons whose press arrives once as a message with their data', async () => {
    const scene = await startSlackScene({
      message: async () => ({ by: 'agent', text: 'Run it?' }),
    });
    const { double, direct, part, received, ann } = scene;
    const buttons = [
      { label: 'Approve', data: '/approve ABCDEF', style: 'success' as const },
      { label: 'Deny', data: '/deny ABCDEF', style: 'danger' as const },
    ];
    const ts = await sent(scene, part('Run it?', { buttons }));
    expect(double.conversation(direct)[0]).toMatchObject({
      text: 'Run it?',
      buttons: ['Approve', 'Deny'],
    });
    const press = double.press({ channel: direct, ts, label: 'Deny' });
    await double.waitFor(() => double.interaction(press) === 'acknowledged');
    expect(received).toHaveLength(1);
    expect(received[0]).toMatchObject({
      ...{ text: '/deny ABCDEF', pressed: ts, addressed: true, authored: { text: true } },
      ...{ chat: { id: direct, type: 'direct' }, sender: { id: ann } },
    });
    expect(received[0]?.chat.threadId).toBeUndefined();
  });

  it('[G05] shows long text with buttons completely, in several blocks', async () => {
    const scene = await startSlackScene();
    const { double, direct, part } = scene;
    const text = Array.from({ length: 500 }, (_, n) => `line ${n}`)
      .join('\n')
      .slice(0, 4_000);
    await sent(scene, part(text, { buttons: [{ label: 'Yes', data: 'yes' }] }));
    const [message] = double.conversation(direct);
    expect(message?.text.replaceAll(/\s+/g, ' ')).toContain(text.replaceAll(/\s+/g, ' ').trim());
    expect(message?.blocks.map(({ type }) => type)).toEqual(['section', 'section', 'actions']);
  });

  it('[G05] arrives without its buttons if Slack refuses them', async () => {
    const scene = await startSlackScene();
    const { double, direct, part } = scene;
    double.fault({ kind: 'refuse', error: 'invalid_blocks', method: 'chat.postMessage' });
    await sent(scene, part('Run it?', { buttons: [{ label: 'Yes', data: 'yes' }] }));
    expect(double.conversation(direct)).toMatchObject([{ text: 'Run it?', buttons: [] }]);
  });

  it('[F10] is a file with its caption in one message', async () => {
    const scene = await startSlackScene();
    const { double, direct, part } = scene;
    const folder = mkdtempSync(join(tmpdir(), 'parley-slack-'));
    const path = join(folder, 'a.txt');
    writeFileSync(path, 'inside');
    const file = { kind: 'document', name: 'a.txt', mimeType: 'text/plain', path } as const;
    await sent(scene, part('here it is', { file }));
    rmSync(folder, { recursive: true });
    const [message] = double.conversation(direct);
    expect(double.conversation(direct)).toHaveLength(1);
    expect(message).toMatchObject({ text: 'here it is', files: [{ name: 'a.txt' }] });
    const bytes = double.file(message?.files[0]?.id ?? '');
    expect(Buffer.from(bytes ?? []).toString()).toBe('inside');
  });

  it.each([
    [
      { kind: 'rate-limit', seconds: 7 },
      { kind: 'rate-limited', retryAfterMs: 7_000, scope: 'chat' },
    ],
    [{ kind: 'refuse', error: 'channel_not_found' }, { kind: 'gone' }],
    [{ kind: 'refuse', error: 'not_in_channel' }, { kind: 'forbidden' }],
    [{ kind: 'refuse', error: 'invalid_blocks' }, { kind: 'refused-format' }],
    [{ kind: 'refuse', error: 'fatal_error' }, { kind: 'unknown-outcome' }],
    [{ kind: 'refuse', error: 'something_new' }, { kind: 'refused' }],
    [{ kind: 'status', status: 502 }, { kind: 'unknown-outcome' }],
    [{ kind: 'reset' }, { kind: 'unknown-outcome' }],
    [{ kind: 'reset', after: true }, { kind: 'unknown-outcome' }],
  ] as const)('[D05] is not retried after %j and is reported as %j', async (fault, kind) => {
    const { double, adapter, part } = await startSlackScene();
    double.fault({ ...fault, method: 'chat.postMessage' });
    expect(await readFailure(adapter.send(part('x'), soon()))).toEqual(kind);
    expect(double.calls('chat.postMessage')).toHaveLength(1);
  });

  it('[D05] waits while the account is refused, and continues once it is accepted', async () => {
    const { double, adapter, part, states } = await startSlackScene();
    double.fault({ kind: 'refuse', error: 'token_revoked', method: 'chat.postMessage' });
    expect(await readFailure(adapter.send(part('x'), soon()))).toEqual({ kind: 'transient' });
    expect(states.at(-1)).toMatchObject({
      kind: 'failed',
      fix: expect.stringContaining('options'),
    });
    await adapter.send(part('x'), soon());
    expect(states.at(-1)).toEqual({ kind: 'connected', as: '@Parley' });
  });

  it('[D13] has an unknown outcome when Slack does not respond in time', async () => {
    const { double, adapter, part } = await startSlackScene();
    double.fault({ kind: 'hang', method: 'chat.postMessage' });
    const failure = readFailure(adapter.send(part('x'), AbortSignal.timeout(200)));
    expect(await failure).toEqual({ kind: 'unknown-outcome' });
  });

  it('[D04] reports when sending starts, and is found in the history by another process', async () => {
    const scene = await startSlackScene();
    const { adapter, direct, part, again } = scene;
    const lost = part('See https://example.org/x, *now* :tada: & <you>');
    await sent(scene, part('another'));
    const starts: string[] = [];
    const ts = (await adapter.send(lost, soon(), () => starts.push('started'))).platformMessageId;
    expect(starts).toEqual(['started']);
    const later = await again();
    expect(await readFailure(later.send(part('too early'), soon()))).toMatchObject({
      untried: true,
    });
    // The adapter recognizes its own messages once it is connected.
    const finding = later.findSent?.(lost, nothing, soon());
    await later.start();
    expect(await finding).toBe(ts);
    const known = [{ chatId: direct, messageId: ts, direction: 'out' as const, at: 0 }];
    expect(await later.findSent?.(lost, { known, uncertainAt: null }, soon())).toBeNull();
  });

  it.each(['direct chat', 'thread'])(
    '[D04] is known to be missing from a %s when the bot has written nothing else there',
    async (kind) => {
      const scene = await startSlackScene();
      const { adapter, double, channel, direct, part } = scene;
      const place =
        kind === 'thread'
          ? { chatId: channel, threadId: double.say({ channel, text: 'question' }).ts }
          : { chatId: direct };
      const earlier = await sent(scene, part('earlier', { route: place }));
      const { chatId } = place;
      const known = [{ chatId, messageId: earlier, direction: 'out' as const, at: 0 }];
      const find = (text: string) =>
        adapter.findSent?.(part(text, { route: place }), { known, uncertainAt: null }, soon());
      expect(await find('never sent')).toBeNull();
      const later = await sent(scene, part('in another form', { route: place }));
      expect(await find('never sent')).toBeUndefined();
      expect(await find('in another form')).toBe(later);
    },
  );

  it('[D04] is found in a thread', async () => {
    const scene = await startSlackScene();
    const { adapter, double, channel, part } = scene;
    const threadId = double.say({ channel, text: 'question' }).ts;
    const answer = part('the answer', { route: { chatId: channel, threadId } });
    const ts = await sent(scene, answer);
    expect(await adapter.findSent?.(answer, nothing, soon())).toBe(ts);
  });
});

describe('a message sent by the bot to Slack', () => {
  it('[F04] [G05] is edited without its buttons, and deleted, repeatedly', async () => {
    const scene = await startSlackScene();
    const { adapter, double, direct, part } = scene;
    const buttons = [{ label: 'Yes', data: 'yes' }];
    const ts = await sent(scene, part('Really?', { buttons }));
    const address = { chatId: direct };
    await adapter.messages?.edit?.(address, ts, { text: 'Done.', plain: 'Done.' });
    expect(double.conversation(direct)).toMatchObject([{ text: 'Done.', buttons: [] }]);
    await adapter.messages?.delete?.(address, ts);
    await adapter.messages?.delete?.(address, ts);
    expect(double.conversation(direct)).toEqual([]);
  });

  it('[F04] reacts to messages with one emoji at a time', async () => {
    const { adapter, double, direct } = await startSlackScene();
    const { ts } = double.say({ channel: direct, text: 'hi' });
    const reactions = () => double.conversation(direct)[0]?.reactions;
    const react = (emoji?: string) => adapter.messages?.react?.({ chatId: direct }, ts, emoji);
    await react('👀');
    await react('👀');
    expect(reactions()).toEqual([['👀', 'bot']]);
    await react('👍');
    expect(reactions()).toEqual([['👍', 'bot']]);
    await react();
    expect(reactions()).toEqual([]);
  });

  it('[F12] shows a working status in its thread', async () => {
    const { adapter, double, channel } = await startSlackScene();
    const { ts } = double.say({ channel, text: 'hi' });
    await adapter.typing?.show({ chatId: channel, threadId: ts });
    expect(double.status(channel, ts)).toBeDefined();
  });

  it('[F12] is streamed, and becomes the finished answer in another process', async () => {
    const scene = await startSlackScene();
    const { adapter, double, direct, part, again } = scene;
    const address = { chatId: direct };
    const show = (text: string) => ({ show: async () => [{ text, plain: text }] });
    await adapter.streaming?.update(address, 'turn', show('One two'));
    await adapter.streaming?.update(address, 'turn', show('One two three'));
    expect(double.conversation(direct)).toMatchObject([{ text: 'One two three', edits: 1 }]);
    const later = await again();
    await later.start();
    await double.waitFor(() => scene.states.at(-1)?.kind === 'connected');
    const answer = part('One two three four', { turnId: 'turn', index: 0 });
    const ts = (await later.send(answer, soon())).platformMessageId;
    expect(double.conversation(direct)).toMatchObject([{ ts, text: 'One two three four' }]);
    await later.streaming?.update(address, 'turn', show('One'));
    expect(double.conversation(direct)).toHaveLength(1);
  });

  it('[F12] is deleted when its turn ends without an answer, even if its receipt was lost', async () => {
    const { adapter, double, direct } = await startSlackScene();
    const address = { chatId: direct };
    const show = async () => [{ text: 'Unfinished text', plain: 'Unfinished text' }];
    double.fault({ kind: 'reset', after: true, method: 'chat.postMessage' });
    await adapter.streaming?.update(address, 'turn', { show });
    expect(double.conversation(direct)).toHaveLength(1);
    await adapter.streaming?.end(address, 'turn', 'nothing');
    expect(double.conversation(direct)).toEqual([]);
  });
});

describe('the connection to Slack', () => {
  it('stops with advice when the token is refused', async () => {
    const { states, adapter, part } = await startSlackScene({
      options: { botToken: 'xoxb-wrong' },
    });
    expect(states.at(-1)).toMatchObject({
      kind: 'failed',
      reason: expect.stringContaining('invalid_auth'),
      fix: expect.stringContaining('"options"'),
    });
    const failure = await readFailure(adapter.send(part('x'), soon()));
    expect(failure).toEqual({ kind: 'transient', untried: true });
  });

  it('is retried while Slack cannot be reached', async () => {
    const { double, again, states } = await startSlackScene();
    double.fault({ kind: 'status', status: 503, method: 'auth.test', times: 2 });
    const next = await again();
    await next.start();
    await double.waitFor(() => states.at(-1)?.kind === 'connected');
    expect(states.filter(({ kind }) => kind === 'retrying')).toHaveLength(2);
  });

  it('[D01] is reopened when its socket closes, without losing events in between', async () => {
    const { double, received, direct, states } = await startSlackScene({ mode: 'socket' });
    double.askToLeave('refresh_requested');
    double.say({ channel: direct, text: 'one' });
    await double.waitFor(() => received.length > 0);
    double.dropConnections();
    double.say({ channel: direct, text: 'two' });
    await double.waitFor(() => received.some(({ text }) => text === 'two'));
    expect(received.map(({ text }) => text)).toEqual(['one', 'two']);
    expect(states.at(-1)?.kind).toBe('connected');
  });
});
