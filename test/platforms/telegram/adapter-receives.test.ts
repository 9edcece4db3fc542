import type { IngressOutcome } from '@parley/channels';
import { type InboundMessage, ParleyError } from '@parley/core';
import type { TelegramDouble } from '@parley/simulators/telegram';
import { afterEach, describe, expect, it } from 'vitest';
import { accepted } from '../adapter-core.ts';
import { endScenes, startTelegramScene } from './adapter-scene.ts';

const ANN = 501;
const GROUP = -5;
const FORUM = -1_000_000_000_005;

afterEach(endScenes);

describe('the Telegram adapter', () => {
  it('polls as soon as it connects, and reports its name', async () => {
    const { double, adapter, states } = await startTelegramScene();
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

  it('passes on messages, even those written before it started', async () => {
    const { double, adapter, received } = await startTelegramScene();
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

  it('recognizes topics, and does not treat a message in a topic as a reply to the bot', async () => {
    const { double, adapter, received } = await startTelegramScene();
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
    const { double, adapter, received } = await startTelegramScene({ receive: () => stored });
    double.say({ chat: ANN, text: 'hi' });
    await adapter.start();
    await double.waitFor(() => received.length === 1);
    expect(double.pendingUpdates()).toHaveLength(1);
    store(accepted);
    await double.waitFor(() => double.pendingUpdates().length === 0);
    expect(received).toHaveLength(1);
  });

  it('[D01] receives a message again, in order, until it can be stored', async () => {
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
    const { double, adapter, states, waits } = await startTelegramScene({ receive });
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

  it('continues after updates that it does not understand', async () => {
    const { double, adapter, received } = await startTelegramScene();
    double.update('message', { message_id: 'what?' });
    double.say({ chat: ANN, text: 'after' });
    await adapter.start();
    await double.waitFor(() => received.length === 1);
    await double.waitFor(() => double.pendingUpdates().length === 0);
    expect(received[0]?.text).toBe('after');
  });

  it('[F16] records a message that the core always refuses, and continues', async () => {
    const refused = new ParleyError({
      code: 'inbound-invalid',
      message: 'The telegram adapter made a message that breaks the contract.',
      retryable: false,
    });
    const receive = (message: InboundMessage) =>
      message.text === 'odd' ? Promise.reject(refused) : Promise.resolve(accepted);
    const { double, adapter, received, ignored, states } = await startTelegramScene({ receive });
    const { message_id: odd } = double.say({ chat: ANN, text: 'odd' });
    double.say({ chat: ANN, text: 'even' });
    await adapter.start();
    await double.waitFor(() => double.pendingUpdates().length === 0);
    expect(received.map(({ text }) => text)).toContain('even');
    expect(ignored).toMatchObject([
      { event: { chatId: '501', messageId: String(odd), senderId: '501' } },
    ]);
    expect(states.map(({ kind }) => kind)).toEqual(['starting', 'connected']);
  });

  it('[F16] records an update of an unknown kind, with its chat, and continues', async () => {
    const { double, adapter, received, ignored, logged } = await startTelegramScene({
      clock: () => 9_000,
    });
    const chat = { id: GROUP, type: 'group' };
    const number = double.update('gift_of_next_year', {
      message_id: 4,
      date: 5,
      chat,
      from: { id: ANN },
    });
    const bare = double.update('state_of_next_year', { user: { id: 502 }, date: 'soon' });
    double.say({ chat: ANN, text: 'after' });
    await adapter.start();
    await double.waitFor(() => received.length === 1);
    await double.waitFor(() => double.pendingUpdates().length === 0);
    expect(ignored).toEqual([
      {
        event: { chatId: String(GROUP), messageId: '4', senderId: '501', at: 5_000 },
        reason: expect.stringContaining('gift_of_next_year'),
      },
      {
        event: { chatId: '502', messageId: `update ${bare}`, senderId: '502', at: 9_000 },
        reason: expect.stringContaining('state_of_next_year'),
      },
    ]);
    expect(logged.join()).toContain(String(number));
  });

  it('keeps polling through gateway pages, resets, partial responses and rate limits', async () => {
    const { double, adapter, received, states, waits, logged } = await startTelegramScene();
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

  it('receives an update again if the response was lost in transit', async () => {
    const { double, adapter, received } = await startTelegramScene();
    double.fault({ kind: 'reset', method: 'getUpdates', after: true });
    double.say({ chat: ANN, text: 'hi' });
    await adapter.start();
    await double.waitFor(() => received.length === 1);
  });

  it('stops with advice when the token is refused', async () => {
    const { double, adapter, states } = await startTelegramScene({
      settings: () => ({ token: '1:wrong' }),
    });
    await adapter.start();
    await double.waitFor(() => states.at(-1)?.kind === 'failed');
    expect(states.at(-1)).toMatchObject({
      reason: expect.stringContaining('401'),
      fix: expect.stringContaining('channels.telegram.token'),
    });
  });

  it('yields to another poller with the same token, and resumes when that poller stops', async () => {
    const { double, adapter, received, states, waits } = await startTelegramScene();
    await adapter.start();
    await double.waitFor(() => states.at(-1)?.kind === 'connected');
    // False while no poll is waiting.
    await expect.poll(() => double.endPoll()).toBe(true);
    await double.waitFor(() => waits.length === 1);
    expect(waits).toEqual([10_000]);
    expect(states.find(({ kind }) => kind === 'retrying')).toMatchObject({
      reason: expect.stringContaining('another program uses the same bot token'),
    });
    double.say({ chat: ANN, text: 'back' });
    await double.waitFor(() => received.length === 1);
  });

  it('removes an old webhook, and keeps the waiting updates', async () => {
    const { double, adapter, received } = await startTelegramScene();
    await fetch(`${double.apiRoot}/bot${double.token}/setWebhook?url=https://old.example/hook`);
    double.say({ chat: ANN, text: 'waited' });
    await adapter.start();
    await double.waitFor(() => received.length === 1);
    expect(double.calls('deleteWebhook')).toHaveLength(1);
  });

  it.each(['', '/'])('works behind a path that ends in "%s"', async (slash) => {
    const settings = ({ apiRoot }: TelegramDouble) => ({ apiRoot: `${apiRoot}${slash}` });
    const { double, adapter, states } = await startTelegramScene({
      double: { pathPrefix: '/proxy' },
      settings,
    });
    await adapter.start();
    await double.waitFor(() => states.at(-1)?.kind === 'connected');
  });
});

describe('stopping the Telegram adapter', () => {
  it('stops immediately during a poll, before a start, and a second time', async () => {
    const { double, adapter, states } = await startTelegramScene();
    const idle = await startTelegramScene();
    await idle.adapter.stop();
    await adapter.start();
    await double.waitFor(() => states.at(-1)?.kind === 'connected');
    await adapter.stop();
    await adapter.stop();
    expect(states.at(-1)).toEqual({ kind: 'stopped' });
  });

  it('stops only after a message in progress is stored', async () => {
    const order: string[] = [];
    const receive = async () => {
      await new Promise((resolve) => setTimeout(resolve, 30));
      order.push('stored');
      return accepted;
    };
    const { double, adapter, received } = await startTelegramScene({ receive });
    double.say({ chat: ANN, text: 'hi' });
    await adapter.start();
    await double.waitFor(() => received.length === 1);
    await adapter.stop();
    order.push('stopped');
    expect(order).toEqual(['stored', 'stopped']);
  });

  it('stops while the network is down', async () => {
    const { double, adapter, waits } = await startTelegramScene();
    await double.close();
    await adapter.start();
    await expect.poll(() => waits.length).toBeGreaterThan(2);
    await adapter.stop();
  });
});
