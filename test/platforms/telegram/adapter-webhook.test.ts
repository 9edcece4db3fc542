import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import type { ChannelAdapter } from '@parley/channels';
import type { InboundMessage } from '@parley/core';
import { afterEach, describe, expect, it } from 'vitest';
import { accepted } from '../adapter-core.ts';
import {
  endScenes,
  startTelegramScene,
  type TelegramScene,
  type TelegramSceneOptions,
} from './adapter-scene.ts';

const ANN = 501;
const SECRET = 'a-secret-of-this-webhook';
const webhook = { url: 'https://bots.example.org/hook', secret: SECRET };
const noAdapter: Pick<ChannelAdapter, 'http'> = {};

const servers: Server[] = [];
afterEach(async () => {
  await endScenes();
  for (const server of servers.splice(0)) server.close();
});

/** An adapter with a webhook, behind a web server like the gateway's. */
async function calledScene(
  wishes: TelegramSceneOptions = {},
): Promise<TelegramScene & { readonly address: string }> {
  let served = noAdapter;
  const server = createServer(async (request, response) => {
    const { method = 'GET', headers } = request;
    const body = method === 'POST' ? { body: Readable.toWeb(request), duplex: 'half' } : {};
    const asked = new Request(`http://gateway${request.url}`, {
      method,
      headers: headers as Record<string, string>,
      ...body,
    } as RequestInit);
    const answer = await served.http?.fetch(asked);
    response.writeHead(answer?.status ?? 404).end();
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const address = `http://127.0.0.1:${port}/channels/telegram/default`;
  const made = await startTelegramScene({
    double: { webhookTarget: address },
    settings: () => ({ webhook }),
    ...wishes,
  });
  served = made.adapter;
  return { ...made, address };
}

const call = (address: string, body: string, headers: Record<string, string> = {}) =>
  fetch(address, {
    method: 'POST',
    body,
    headers: { 'x-telegram-bot-api-secret-token': SECRET, ...headers },
  });

describe('the Telegram adapter with a webhook', () => {
  it('sets the webhook with its secret and the requested update types, and keeps the waiting updates', async () => {
    const { double, adapter, received, states } = await calledScene();
    double.say({ chat: ANN, text: 'early' });
    await adapter.start();
    await double.waitFor(() => received.length === 1);
    expect(double.calls('setWebhook')[0]?.params).toEqual({
      url: webhook.url,
      secret_token: SECRET,
      allowed_updates: expect.arrayContaining(['message', 'callback_query', 'my_chat_member']),
    });
    expect(double.calls('getUpdates')).toEqual([]);
    expect(adapter.http?.open).toBe(true);
    expect(states.at(-1)).toEqual({ kind: 'connected', as: '@parley_test_bot' });
  });

  it('[F01] reads a request that is split inside a character', async () => {
    const { double, adapter, received } = await calledScene();
    await adapter.start();
    double.say({ chat: ANN, text: 'naïve текст 😀' });
    await double.waitFor(() => received.length === 1);
    expect(received[0]?.text).toBe('naïve текст 😀');
  });

  it('[F16] reads the longest possible formatted message', async () => {
    const { double, adapter, received } = await calledScene();
    await adapter.start();
    const letter = { type: 'url', text: 'a', url: `https://example.org/${'x'.repeat(40)}` };
    const paragraph = { type: 'paragraph', text: Array.from({ length: 32_768 }, () => letter) };
    double.update('message', {
      ...{ message_id: 5, date: 1_790_000_000, chat: { id: ANN, type: 'private' } },
      from: { id: ANN, is_bot: false, first_name: 'Ann' },
      rich_message: { blocks: [paragraph] },
    });
    await double.waitFor(() => received.length === 1);
    expect(received[0]?.text.slice(0, 23)).toBe('a (https://example.org/');
  });

  it('[D01] responds only after the message is stored, and receives the message again if storing failed', async () => {
    let failures = 2;
    const receive = async () => {
      failures -= 1;
      if (failures >= 0) throw new Error('disk is full');
      return accepted;
    };
    const { double, adapter, received, logged } = await calledScene({ receive });
    await adapter.start();
    double.say({ chat: ANN, text: 'one' });
    double.say({ chat: ANN, text: 'two' });
    await double.waitFor(() => double.pendingUpdates().length === 0);
    expect(received.map(({ text }) => text)).toEqual(['one', 'one', 'one', 'two']);
    expect(logged.join()).toContain('disk is full');
  });

  it.each<[string, object]>([
    ['no secret', { 'x-telegram-bot-api-secret-token': '' }],
    ['another secret', { 'x-telegram-bot-api-secret-token': `${SECRET}x` }],
  ])('[U03] does not accept calls from a caller with %s', async (_name, headers) => {
    const { double, adapter, received, states, address } = await calledScene();
    await adapter.start();
    await double.waitFor(() => states.at(-1)?.kind === 'connected');
    const message = { message_id: 1, date: 1, chat: { id: 1, type: 'private' }, text: 'forged' };
    const body = JSON.stringify({ update_id: 1, message });
    expect((await call(address, body, { ...headers })).status).toBe(401);
    expect(received).toEqual([]);
  });

  it.each<[string, string]>([
    ['no JSON', '{"update_id":'],
    ['no update', '{"update":1}'],
    ['more than 16 MB', `{"update_id":1,"x":"${'x'.repeat(16 * 1024 * 1024)}"}`],
  ])('refuses %s', async (_name, body) => {
    const { double, adapter, states, address } = await calledScene();
    await adapter.start();
    await double.waitFor(() => states.at(-1)?.kind === 'connected');
    expect((await call(address, body)).status).toBe(400);
    expect((await fetch(address)).status).toBe(405);
  });

  it('[D01] does not accept requests before it is connected or after it has stopped', async () => {
    const { double, adapter, received, states, address } = await calledScene();
    const update = JSON.stringify({ update_id: 1 });
    expect((await call(address, update)).status).toBe(503);
    await adapter.start();
    await double.waitFor(() => states.at(-1)?.kind === 'connected');
    expect((await call(address, update)).status).toBe(200);
    await adapter.stop();
    expect((await call(address, update)).status).toBe(503);
    expect(received).toEqual([]);
    expect(states.at(-1)).toEqual({ kind: 'stopped' });
  });

  it('[D01] stops only after a message in progress is stored', async () => {
    const order: string[] = [];
    const store = Promise.withResolvers<void>();
    const receive = async () => {
      await store.promise;
      order.push('stored');
      return accepted;
    };
    const { double, adapter, received } = await calledScene({ receive });
    await adapter.start();
    double.say({ chat: ANN, text: 'hi' });
    await double.waitFor(() => received.length === 1);
    const stopped = adapter.stop().then(() => order.push('stopped'));
    // Everything that does not wait for the message has finished by this point.
    await new Promise(setImmediate);
    await new Promise(setImmediate);
    store.resolve();
    await stopped;
    expect(order).toEqual(['stored', 'stopped']);
  });

  it('[D02] admits the updates of one chat in order, and those of other chats in the meantime', async () => {
    const store = Promise.withResolvers<void>();
    const stored: string[] = [];
    const receive = async ({ text }: InboundMessage) => {
      if (text === 'first') await store.promise;
      stored.push(text);
      return accepted;
    };
    const { double, adapter, received, states, address } = await calledScene({ receive });
    await adapter.start();
    await double.waitFor(() => states.at(-1)?.kind === 'connected');
    const write = (update_id: number, chat: number, text: string) => {
      const from = { id: chat, first_name: 'A' };
      const message = {
        message_id: update_id,
        date: 1,
        chat: { id: chat, type: 'private' },
        from,
        text,
      };
      return call(address, JSON.stringify({ update_id, message }));
    };
    const first = write(1, ANN, 'first');
    await double.waitFor(() => received.length === 1);
    const second = write(2, ANN, 'second');
    expect((await write(3, 502, 'other')).status).toBe(200);
    store.resolve();
    expect([(await first).status, (await second).status]).toEqual([200, 200]);
    expect(stored).toEqual(['other', 'first', 'second']);
  });

  it('keeps trying when the webhook cannot be set, and reports the reason', async () => {
    const { double, adapter, states } = await calledScene();
    double.fault({ kind: 'status', status: 502, method: 'setWebhook' });
    const description = 'Bad Request: bad webhook: Failed to resolve host';
    double.fault({ kind: 'refuse', code: 400, description, method: 'setWebhook' });
    await adapter.start();
    await double.waitFor(() => states.at(-1)?.kind === 'connected');
    expect(states.map(({ kind }) => kind)).toEqual([
      'starting',
      'retrying',
      'retrying',
      'connected',
    ]);
    expect(JSON.stringify(states)).toContain('Failed to resolve host');
  });

  it('stops with advice when the token is refused', async () => {
    const { double, adapter, states } = await calledScene({
      settings: () => ({ token: '1:wrong', webhook }),
    });
    await adapter.start();
    await double.waitFor(() => states.at(-1)?.kind === 'failed');
  });

  it('removes the webhook when polling starts again', async () => {
    const { double, adapter, received } = await calledScene();
    await adapter.start();
    double.say({ chat: ANN, text: 'called' });
    await double.waitFor(() => received.length === 1);
    await adapter.stop();
    const polling = await startTelegramScene({
      settings: () => ({ token: double.token, apiRoot: double.apiRoot }),
    });
    double.say({ chat: ANN, text: 'asked' });
    await polling.adapter.start();
    await polling.double.waitFor(() => polling.received.length === 1);
    expect(polling.received[0]?.text).toBe('asked');
    expect(double.calls('deleteWebhook')).toHaveLength(1);
  });

  it('reports when Telegram cannot call, and sets the webhook again when it was removed', async () => {
    const looks: (() => void)[] = [];
    const watch = () => new Promise<void>((resolve) => looks.push(resolve));
    const receive = async () => {
      throw new Error('disk is full');
    };
    const { double, adapter, states, logged } = await calledScene({ receive, watch });
    await adapter.start();
    double.say({ chat: ANN, text: 'hi' });
    await double.waitFor(() => logged.length > 1);
    looks.shift()?.();
    await double.waitFor(() => states.at(-1)?.kind === 'retrying');
    expect(states.at(-1)).toMatchObject({
      reason: expect.stringContaining('Wrong response from the webhook: 500'),
    });
    await fetch(`${double.apiRoot}/bot${double.token}/deleteWebhook`);
    looks.shift()?.();
    await double.waitFor(() => double.calls('setWebhook').length === 2);
  });
});
