import { reasonOf } from '@parley/core';
import type { TelegramDouble } from '@parley/simulators/telegram';
import { afterEach, describe, expect, it } from 'vitest';
import { noSignal, readFailure } from '../adapter-core.ts';
import { createPart } from './adapter-parts.ts';
import { endScenes, startTelegramScene } from './adapter-scene.ts';

const ANN = 501;
const GROUP = -5;
const FORUM = -1_000_000_000_005;

afterEach(endScenes);

describe('sending through the Telegram adapter', () => {
  it('sends formatted text to a chat and a topic, quoting the question, without previews', async () => {
    const { double, adapter } = await startTelegramScene();
    const question = double.say({ chat: FORUM, thread: 42, text: 'q' });
    const place = { threadId: '42', replyToMessageId: String(question.message_id) };
    const receipt = await adapter.send(createPart(FORUM, '<b>a</b> &lt;', place), noSignal());
    const shown = double.conversation(FORUM).at(-1);
    expect(shown).toMatchObject({ text: 'a <', threadId: 42, replyTo: question.message_id });
    expect(receipt).toEqual({ platformMessageId: String(shown?.messageId) });
    expect(double.calls('sendMessage')[0]?.params).toMatchObject({
      link_preview_options: { is_disabled: true },
    });
  });

  it('sends an answer whose question was deleted', async () => {
    const { double, adapter } = await startTelegramScene();
    double.say({ chat: ANN, text: 'q' });
    await adapter.send(createPart(ANN, 'a', { replyToMessageId: '99999' }), noSignal());
    expect(double.conversation(ANN).at(-1)).toMatchObject({ text: 'a', from: 'bot' });
  });

  it('[M04] sends plain text once when the markup is refused', async () => {
    const { double, adapter, logged } = await startTelegramScene();
    double.say({ chat: ANN, text: 'q' });
    await adapter.send(createPart(ANN, '<b>broken', { plain: 'a < b & <c>' }), noSignal());
    expect(double.conversation(ANN).at(-1)).toMatchObject({ text: 'a < b & <c>', entities: [] });
    expect(double.calls('sendMessage').map(({ outcome }) => outcome)).toEqual([400, 200]);
    expect(logged.join()).toContain('markup refused');
  });

  it('sends to the supergroup that a group has become, even before its message arrives', async () => {
    const { double, adapter } = await startTelegramScene();
    const question = double.say({ chat: GROUP, text: 'q' });
    const newId = double.migrate(GROUP);
    const receipt = await adapter.send(
      createPart(GROUP, 'a', { replyToMessageId: String(question.message_id) }),
      noSignal(),
    );
    expect(receipt.platformMessageId).toMatch(/^\d+s$/);
    expect(double.conversation(newId).at(-1)).toMatchObject({ text: 'a', from: 'bot' });
  });

  it('[D05] reports an error with advice when a topic or group is closed to the bot', async () => {
    const { double, adapter, received } = await startTelegramScene();
    const chat = { id: FORUM, title: 'Family' };
    for (const thread of [42, 43]) double.say({ chat, thread, text: 'q' });
    await adapter.start();
    await double.waitFor(() => received.length === 2);
    const send = async (thread: number): Promise<string> => {
      const sending = adapter.send(
        createPart(FORUM, 'a', { threadId: String(thread) }),
        noSignal(),
      );
      return sending.then(() => 'sent', reasonOf);
    };
    double.setTopic(FORUM, 42, 'closed');
    expect(await send(42)).toContain('TOPIC_CLOSED. Open the topic again');
    double.setTopic(FORUM, 42, 'open');
    expect(await send(42)).toBe('sent');
    double.setTopic(FORUM, 43, 'deleted');
    expect(await send(43)).toContain('The topic was deleted');
    double.setAccess(FORUM, 'muted');
    expect(await send(42)).toContain('Give the bot the right to send messages');
    const name = (thread?: string) =>
      adapter.chatName?.({ chatId: String(FORUM), ...(thread && { threadId: thread }) });
    expect(await name('43')).toBe('Family, topic Topic 43');
    expect(await name()).toBe('Family');
    expect(await adapter.chatName?.({ chatId: '-77' })).toBeUndefined();
  });

  it.each<[string, (double: TelegramDouble) => void, object]>([
    [
      'a rate limit',
      (d) =>
        d.fault({
          kind: 'refuse',
          code: 429,
          description: 'Too Many Requests: retry after 9',
          parameters: { retry_after: 9 },
        }),
      { kind: 'rate-limited', retryAfterMs: 9000, scope: 'chat' },
    ],
    ['a block', (d) => d.setAccess(ANN, 'blocked'), { kind: 'forbidden' }],
    [
      'a kick',
      (d) =>
        d.fault({
          kind: 'refuse',
          code: 403,
          description: 'Forbidden: bot was kicked from the supergroup chat',
        }),
      { kind: 'forbidden' },
    ],
    [
      'a channel in which it may not write',
      (d) =>
        d.fault({
          kind: 'refuse',
          code: 400,
          description: 'Bad Request: need administrator rights in the channel chat',
        }),
      { kind: 'forbidden' },
    ],
    [
      'a deleted topic',
      (d) =>
        d.fault({
          kind: 'refuse',
          code: 400,
          description: 'Bad Request: message thread not found',
        }),
      { kind: 'gone' },
    ],
    [
      'a lost right to write',
      (d) =>
        d.fault({
          kind: 'refuse',
          code: 400,
          description: 'Bad Request: not enough rights to send text messages to the chat',
        }),
      { kind: 'forbidden' },
    ],
    [
      'a missing right to send files',
      (d) =>
        d.fault({
          kind: 'refuse',
          code: 400,
          description: 'Bad Request: not enough rights to send documents to the chat',
        }),
      { kind: 'refused' },
    ],
    [
      'a deleted account',
      (d) => d.fault({ kind: 'refuse', code: 403, description: 'Forbidden: user is deactivated' }),
      { kind: 'gone' },
    ],
    [
      'any other refusal',
      (d) =>
        d.fault({ kind: 'refuse', code: 400, description: 'Bad Request: message is too long' }),
      { kind: 'refused' },
    ],
    [
      'a token that is refused for now',
      (d) => d.fault({ kind: 'refuse', code: 401, description: 'Unauthorized' }),
      { kind: 'transient' },
    ],
    ['a reset', (d) => d.fault({ kind: 'reset' }), { kind: 'unknown-outcome' }],
    [
      'a reset after it arrived',
      (d) => d.fault({ kind: 'reset', after: true }),
      { kind: 'unknown-outcome' },
    ],
    [
      'a page of a gateway',
      (d) => d.fault({ kind: 'status', status: 502 }),
      { kind: 'unknown-outcome' },
    ],
    [
      'half an answer',
      (d) => d.fault({ kind: 'garbage', after: true }),
      { kind: 'unknown-outcome' },
    ],
  ])(
    'reports the meaning of %s to delivery after a single call',
    async (_name, arrange, failure) => {
      const { double, adapter } = await startTelegramScene();
      double.say({ chat: ANN, text: 'q' });
      arrange(double);
      expect(await readFailure(adapter.send(createPart(ANN, 'a'), noSignal()))).toEqual(failure);
      expect(double.calls('sendMessage')).toHaveLength(1);
    },
  );

  it('reports that a chat no longer exists', async () => {
    const { adapter } = await startTelegramScene();
    expect(await readFailure(adapter.send(createPart(404, 'a'), noSignal()))).toEqual({
      kind: 'gone',
    });
  });

  it('[D04] reports an unknown outcome for a call without a response', async () => {
    const { double, adapter } = await startTelegramScene();
    double.say({ chat: ANN, text: 'q' });
    double.fault({ kind: 'hang', after: true });
    const deadline = new AbortController();
    const failure = readFailure(adapter.send(createPart(ANN, 'a'), deadline.signal));
    await double.waitFor(() => double.conversation(ANN).at(-1)?.text === 'a');
    deadline.abort();
    expect(await failure).toEqual({ kind: 'unknown-outcome' });
  });

  it('reports that nothing was sent after a stop', async () => {
    const { double, adapter } = await startTelegramScene();
    expect(await readFailure(adapter.send(createPart(ANN, 'a'), AbortSignal.abort()))).toEqual({
      kind: 'transient',
    });
    expect(double.calls()).toEqual([]);
  });

  it('sends typing indicators in the topic', async () => {
    const { double, adapter } = await startTelegramScene();
    double.say({ chat: FORUM, thread: 42, text: 'q' });
    await adapter.typing?.show({ chatId: String(FORUM), threadId: '42' });
    expect(adapter.typing?.repeatMs).toBeLessThan(5000);
    expect(double.calls('sendChatAction')[0]?.params).toMatchObject({
      action: 'typing',
      message_thread_id: 42,
    });
  });
});
