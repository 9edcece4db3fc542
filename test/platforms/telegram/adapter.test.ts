import { type TelegramAmbience, telegram } from '@parley/channel-telegram';
import type { ChannelAdapter, ChannelState, IngressOutcome } from '@parley/channels';
import {
  ChannelError,
  type InboundMessage,
  type Logger,
  type OutboundPart,
  silentLogger,
} from '@parley/contracts';
import { afterEach, describe, expect, it } from 'vitest';
import { startTelegramDouble, type TelegramDouble, type TelegramDoubleOptions } from './index.ts';

const ANN = 501;
const GROUP = -5;
const FORUM = -1_000_000_000_005;
const cleanUp: (() => Promise<void>)[] = [];

interface Scene {
  readonly double: TelegramDouble;
  readonly adapter: ChannelAdapter;
  readonly received: InboundMessage[];
  readonly states: ChannelState[];
  readonly waits: number[];
  readonly logged: string[];
}

interface Wishes {
  readonly receive?: (message: InboundMessage) => Promise<IngressOutcome>;
  readonly settings?: (double: TelegramDouble) => object;
  readonly double?: TelegramDoubleOptions;
}

const accepted: IngressOutcome = { kind: 'accepted', conversationId: 'c' };

async function scene(wishes: Wishes = {}): Promise<Scene> {
  const double = await startTelegramDouble(wishes.double);
  const received: InboundMessage[] = [];
  const states: ChannelState[] = [];
  const waits: number[] = [];
  const logged: string[] = [];
  const ambience: TelegramAmbience = {
    random: () => 0,
    wait: async (ms) => {
      waits.push(ms);
      await new Promise((resolve) => setTimeout(resolve, 1));
    },
  };
  const connect = await telegram.load();
  const context = {
    account: 'default',
    settings: { token: double.token, apiRoot: double.apiRoot, ...wishes.settings?.(double) },
    log: recordingLogger(logged),
    clock: Date.now,
    receive: async (message: InboundMessage) => {
      received.push(message);
      double.transcript.changed();
      return wishes.receive ? wishes.receive(message) : accepted;
    },
    report: (state: ChannelState) => {
      states.push(state);
      double.transcript.changed();
    },
    history: async () => [],
  };
  const adapter = connect(context, ambience);
  cleanUp.push(async () => {
    await adapter.stop();
    await double.close();
  });
  return { double, adapter, received, states, waits, logged };
}

function recordingLogger(lines: string[]): Logger {
  const note = (facts: object, message: string) =>
    void lines.push(`${message} ${JSON.stringify(facts)}`);
  return { ...silentLogger, info: note, warn: note, error: note };
}

function part(
  chatId: number,
  text: string,
  more: { threadId?: string; replyToMessageId?: string; plain?: string } = {},
): OutboundPart {
  const { plain = 'plain', ...place } = more;
  const target = { dialect: 'telegram', maxLength: 4096, unit: 'utf16' } as const;
  const route = {
    channel: 'telegram',
    account: 'default',
    chatId: String(chatId),
    target,
    ...place,
  };
  return { id: 'part_1', idempotencyKey: 'k', turnId: 't', route, body: { text, plain } };
}

const noSignal = () => new AbortController().signal;

async function failureOf(sending: Promise<unknown>) {
  const error = await sending.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ChannelError))
    throw new Error(`Expected a ChannelError, got ${String(error)}`);
  return error.failure;
}

afterEach(async () => {
  await Promise.all(cleanUp.splice(0).map((close) => close()));
});

describe('the Telegram adapter receives', () => {
  it('connects with a poll first, and tells its name', async () => {
    const { double, adapter, states } = await scene();
    await adapter.start();
    await double.waitFor(() => states.length === 2);
    expect(states).toEqual([{ kind: 'starting' }, { kind: 'connected', as: '@parley_test_bot' }]);
    expect(
      double
        .calls()
        .map(({ method }) => method)
        .sort(),
    ).toEqual(['getMe', 'getUpdates']);
  });

  it('hands over what was written, also before it started', async () => {
    const { double, adapter, received } = await scene();
    double.say({ chat: ANN, text: 'early 😀 текст' });
    await adapter.start();
    await double.waitFor(() => received.length === 1);
    double.say({
      chat: { id: GROUP, title: 'Team' },
      from: { id: 9, first_name: 'Bo' },
      text: 'hi @parley_test_bot',
    });
    await double.waitFor(() => received.length === 2);
    expect(received).toMatchObject([
      { text: 'early 😀 текст', chat: { type: 'direct', id: '501' }, addressed: true },
      {
        chat: { type: 'group', id: '-5', title: 'Team' },
        sender: { id: '9', name: 'Bo' },
        addressed: true,
        mentions: ['7000000001'],
      },
    ]);
  });

  it('knows topics, and that being in a topic is no reply to the bot', async () => {
    const { double, adapter, received } = await scene();
    await adapter.start();
    double.say({ chat: FORUM, thread: 42, text: 'hello' });
    await double.waitFor(() => received.length === 1);
    expect(received[0]).toMatchObject({
      chat: { type: 'thread', threadId: '42' },
      addressed: false,
    });
    expect(received[0]?.replyTo).toBeUndefined();
  });

  it('[D01] confirms a message only after it is stored', async () => {
    let store: (outcome: IngressOutcome) => void = () => {};
    const stored = new Promise<IngressOutcome>((resolve) => {
      store = resolve;
    });
    const { double, adapter, received } = await scene({ receive: () => stored });
    double.say({ chat: ANN, text: 'hi' });
    await adapter.start();
    await double.waitFor(() => received.length === 1);
    expect(double.pendingUpdates()).toHaveLength(1);
    store(accepted);
    await double.waitFor(() => double.pendingUpdates().length === 0);
    expect(received).toHaveLength(1);
  });

  it('[D01] loses nothing when storing fails: the message comes again, in order, until it is stored', async () => {
    let failures = 3;
    const stored: string[] = [];
    const receive = async ({ text }: InboundMessage) => {
      if (text === 'one' && failures > 0) {
        failures -= 1;
        throw new Error('disk is full');
      }
      stored.push(text);
      return accepted;
    };
    const { double, adapter, states, waits } = await scene({ receive });
    double.say({ chat: ANN, text: 'one' });
    double.say({ chat: ANN, text: 'two' });
    await adapter.start();
    await double.waitFor(() => stored.length === 2);
    await double.waitFor(() => double.pendingUpdates().length === 0);
    expect(stored).toEqual(['one', 'two']);
    expect(waits).toEqual([500, 1000, 2000]);
    expect(states).toContainEqual(
      expect.objectContaining({
        kind: 'retrying',
        reason: 'messages cannot be stored: disk is full',
      }),
    );
    expect(states.at(-1)).toMatchObject({ kind: 'connected' });
  });

  it('goes on after updates it does not understand', async () => {
    const { double, adapter, received } = await scene();
    double.update('message', { message_id: 'what?' });
    double.say({ chat: ANN, text: 'after' });
    await adapter.start();
    await double.waitFor(() => received.length === 1);
    await double.waitFor(() => double.pendingUpdates().length === 0);
    expect(received[0]?.text).toBe('after');
  });

  it('keeps polling through gateway pages, resets, half answers and rate limits', async () => {
    const { double, adapter, received, states, waits, logged } = await scene();
    const refusal = {
      code: 429,
      description: 'Too Many Requests: retry after 7',
      parameters: { retry_after: 7 },
    };
    double.fault({ kind: 'status', status: 502, method: 'getUpdates' });
    double.fault({ kind: 'reset', method: 'getUpdates' });
    double.fault({ kind: 'garbage', method: 'getUpdates' });
    double.fault({ kind: 'refuse', method: 'getUpdates', ...refusal });
    double.say({ chat: ANN, text: 'still there?' });
    await adapter.start();
    await double.waitFor(() => states.at(-1)?.kind === 'connected');
    expect(received.map(({ text }) => text)).toEqual(['still there?']);
    expect(waits).toEqual([500, 1000, 2000, 7000]);
    expect(JSON.stringify([states, logged])).not.toContain(double.token);
  });

  it('brings an update again whose answer was lost on the way', async () => {
    const { double, adapter, received } = await scene();
    double.fault({ kind: 'reset', method: 'getUpdates', after: true });
    double.say({ chat: ANN, text: 'hi' });
    await adapter.start();
    await double.waitFor(() => received.length === 1);
  });

  it('stops and says what to do when the token is refused', async () => {
    const { double, adapter, states } = await scene({ settings: () => ({ token: '1:wrong' }) });
    await adapter.start();
    await double.waitFor(() => states.at(-1)?.kind === 'failed');
    expect(states.at(-1)).toMatchObject({
      reason: expect.stringContaining('401'),
      mend: expect.stringContaining('channels.telegram.token'),
    });
  });

  it('steps back from another poller with the same token, and returns when it is gone', async () => {
    const { double, adapter, received, states, waits } = await scene();
    await adapter.start();
    await double.waitFor(() => states.at(-1)?.kind === 'connected');
    await double.waitFor(() => double.calls('getUpdates').length === 1);
    await new Promise((resolve) => setTimeout(resolve, 20));
    double.endPoll();
    await double.waitFor(() => waits.length === 1);
    expect(waits).toEqual([10_000]);
    expect(states.find(({ kind }) => kind === 'retrying')).toMatchObject({
      reason: expect.stringContaining('another program uses the same bot token'),
    });
    double.say({ chat: ANN, text: 'back' });
    await double.waitFor(() => received.length === 1);
  });

  it('removes a webhook that was left set, and keeps what waited', async () => {
    const { double, adapter, received } = await scene();
    await fetch(`${double.apiRoot}/bot${double.token}/setWebhook?url=https://old.example/hook`);
    double.say({ chat: ANN, text: 'waited' });
    await adapter.start();
    await double.waitFor(() => received.length === 1);
    expect(double.calls('deleteWebhook')).toHaveLength(1);
  });

  it.each(['', '/'])('works behind a path that ends in "%s"', async (slash) => {
    const settings = ({ apiRoot }: TelegramDouble) => ({ apiRoot: `${apiRoot}${slash}` });
    const { double, adapter, states } = await scene({ double: { pathPrefix: '/proxy' }, settings });
    await adapter.start();
    await double.waitFor(() => states.at(-1)?.kind === 'connected');
  });
});

describe('the Telegram adapter stops', () => {
  it('at once in the middle of a poll, before a start, and twice', async () => {
    const { double, adapter, states } = await scene();
    const idle = await scene();
    await idle.adapter.stop();
    await adapter.start();
    await double.waitFor(() => states.at(-1)?.kind === 'connected');
    await adapter.stop();
    await adapter.stop();
    expect(states.at(-1)).toEqual({ kind: 'stopped' });
  });

  it('only after a message that is being stored is stored', async () => {
    const order: string[] = [];
    const receive = async () => {
      await new Promise((resolve) => setTimeout(resolve, 30));
      order.push('stored');
      return accepted;
    };
    const { double, adapter, received } = await scene({ receive });
    double.say({ chat: ANN, text: 'hi' });
    await adapter.start();
    await double.waitFor(() => received.length === 1);
    await adapter.stop();
    order.push('stopped');
    expect(order).toEqual(['stored', 'stopped']);
  });

  it('while the network is away', async () => {
    const { double, adapter, waits } = await scene();
    await double.close();
    await adapter.start();
    await expect.poll(() => waits.length).toBeGreaterThan(2);
    await adapter.stop();
  });
});

describe('the Telegram adapter sends', () => {
  it('formatted text to chat, topic and the message it answers, without previews', async () => {
    const { double, adapter } = await scene();
    const question = double.say({ chat: FORUM, thread: 42, text: 'q' });
    const place = { threadId: '42', replyToMessageId: String(question.message_id) };
    const receipt = await adapter.send(part(FORUM, '<b>a</b> &lt;', place), noSignal());
    const shown = double.conversation(FORUM).at(-1);
    expect(shown).toMatchObject({ text: 'a <', threadId: 42, replyTo: question.message_id });
    expect(receipt).toEqual({ platformMessageId: String(shown?.messageId) });
    expect(double.calls('sendMessage')[0]?.params).toMatchObject({
      link_preview_options: { is_disabled: true },
    });
  });

  it('an answer whose question was deleted', async () => {
    const { double, adapter } = await scene();
    double.say({ chat: ANN, text: 'q' });
    await adapter.send(part(ANN, 'a', { replyToMessageId: '99999' }), noSignal());
    expect(double.conversation(ANN).at(-1)).toMatchObject({ text: 'a', from: 'bot' });
  });

  it('[M04] plain text, once, when the markup is refused', async () => {
    const { double, adapter, logged } = await scene();
    double.say({ chat: ANN, text: 'q' });
    await adapter.send(part(ANN, '<b>broken', { plain: 'a < b & <c>' }), noSignal());
    expect(double.conversation(ANN).at(-1)).toMatchObject({ text: 'a < b & <c>', entities: [] });
    expect(double.calls('sendMessage').map(({ outcome }) => outcome)).toEqual([400, 200]);
    expect(logged.join()).toContain('markup refused');
  });

  it('to the supergroup that a group has become, and reports the new id', async () => {
    const { double, adapter } = await scene();
    const question = double.say({ chat: GROUP, text: 'q' });
    const newId = double.migrate(GROUP);
    const receipt = await adapter.send(
      part(GROUP, 'a', { replyToMessageId: String(question.message_id) }),
      noSignal(),
    );
    expect(receipt).toMatchObject({ migratedTo: String(newId) });
    expect(double.conversation(newId).at(-1)).toMatchObject({ text: 'a', from: 'bot' });
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
  ])('and tells delivery what %s means, after a single call', async (_name, arrange, failure) => {
    const { double, adapter } = await scene();
    double.say({ chat: ANN, text: 'q' });
    arrange(double);
    expect(await failureOf(adapter.send(part(ANN, 'a'), noSignal()))).toEqual(failure);
    expect(double.calls('sendMessage')).toHaveLength(1);
  });

  it('and knows that a chat is gone', async () => {
    const { adapter } = await scene();
    expect(await failureOf(adapter.send(part(404, 'a'), noSignal()))).toEqual({ kind: 'gone' });
  });

  it('[D04] and does not claim to know what became of a call without an answer', async () => {
    const { double, adapter } = await scene();
    double.say({ chat: ANN, text: 'q' });
    double.fault({ kind: 'hang', after: true });
    const failure = failureOf(adapter.send(part(ANN, 'a'), AbortSignal.timeout(50)));
    expect(await failure).toEqual({ kind: 'unknown-outcome' });
    expect(double.conversation(ANN).at(-1)?.text).toBe('a');
  });

  it('and knows for certain that nothing was sent without a connection or after a stop', async () => {
    const { double, adapter } = await scene();
    expect(await failureOf(adapter.send(part(ANN, 'a'), AbortSignal.abort()))).toEqual({
      kind: 'transient',
    });
    expect(double.calls()).toEqual([]);
    await double.close();
    expect(await failureOf(adapter.send(part(ANN, 'a'), noSignal()))).toEqual({
      kind: 'transient',
    });
  });

  it('typing, in the topic', async () => {
    const { double, adapter } = await scene();
    double.say({ chat: FORUM, thread: 42, text: 'q' });
    await adapter.typing?.show({ chatId: String(FORUM), threadId: '42' });
    expect(adapter.typing?.repeatMs).toBeLessThan(5000);
    expect(double.calls('sendChatAction')[0]?.params).toMatchObject({
      action: 'typing',
      message_thread_id: 42,
    });
  });
});
