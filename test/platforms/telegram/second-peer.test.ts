import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startTelegramServer } from '@openclaw/crabline';
import { telegram } from '@parley/channel-telegram';
import type { ChannelState } from '@parley/channels';
import { type InboundMessage, silentLogger, systemTime } from '@parley/core';
import { createInMemoryAdapterValues } from '@parley/core/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accepted, noSignal } from '../adapter-core.ts';
import { createPart } from './adapter-parts.ts';

const ANN = 501;

/** The requests received by the third-party server, unchanged. */
interface Seen {
  readonly path: string;
  readonly body?: unknown;
}

describe('the Telegram adapter against a third-party server', () => {
  let folder: string;
  let server: Awaited<ReturnType<typeof startTelegramServer>>;
  const seen: Seen[] = [];
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'parley-second-peer-'));
    server = await startTelegramServer({
      recorderPath: join(folder, 'calls.jsonl'),
      onEvent: (event) => void seen.push(event),
    });
  });
  afterAll(async () => {
    await server.close();
    await rm(folder, { recursive: true });
  });

  function adapterFor(received: InboundMessage[], states: ChannelState[]) {
    const { botToken, endpoints } = server.manifest;
    return telegram.load().then((connect) =>
      connect({
        account: 'default',
        settings: { token: botToken, apiRoot: endpoints.apiRoot },
        log: silentLogger,
        clock: Date.now,
        monotonic: systemTime.monotonic,
        values: createInMemoryAdapterValues(),
        commands: [{ name: 'help', summary: 'what I can do' }],
        receive: async (message) => {
          received.push(message);
          return accepted;
        },
        holdsAccount: () => true,
        revise: async () => undefined,
        reacted: async () => {},
        message: async () => null,
        report: (state) => void states.push(state),
        skipped: async () => {},
        ignored: async () => {},
        notifyOwner: async () => {},
        history: async () => [],
      }),
    );
  }

  async function write(text: string): Promise<void> {
    const { adminToken, endpoints } = server.manifest;
    const response = await fetch(endpoints.adminInboundUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-crabline-admin-token': adminToken },
      body: JSON.stringify({ chatId: ANN, fromId: ANN, fromName: 'Ann', text }),
    });
    expect(response.status).toBe(200);
  }

  const calls = (method: string) => seen.filter(({ path }) => path.endsWith(`/${method}`));

  it('[F03] receives, answers, edits, reacts, deletes, types, sends a file and sets its menu', async () => {
    const received: InboundMessage[] = [];
    const states: ChannelState[] = [];
    const adapter = await adapterFor(received, states);
    await adapter.start();
    await write('hello 😀');
    await expect.poll(() => received.length).toBe(1);
    expect(received[0]).toMatchObject({ text: 'hello 😀', chat: { id: '501', type: 'direct' } });
    expect(states.at(-1)?.kind).toBe('connected');

    const place = { replyToMessageId: received[0]?.messageId ?? '' };
    const buttons = [{ label: 'Yes', data: '/yes' }];
    const sent = await adapter.send(
      createPart(ANN, '<b>hi</b>', { ...place, buttons }),
      noSignal(),
    );
    expect(sent.platformMessageId).toMatch(/^\d+$/);
    const address = { chatId: String(ANN) };
    await adapter.typing?.show(address);
    await adapter.messages?.edit?.(address, sent.platformMessageId, { text: 'hi!', plain: 'hi!' });
    await adapter.messages?.react?.(address, received[0]?.messageId ?? '', '👀');
    await adapter.messages?.delete?.(address, sent.platformMessageId);

    // The server does not support drafts, which the adapter tolerates silently.
    const answer = { show: async () => [{ text: 'h', plain: 'h' }] };
    await adapter.streaming?.update(address, 't2', answer);

    const path = join(folder, 'a.pdf');
    await writeFile(path, 'x');
    const file = { kind: 'document', name: 'a.pdf', mimeType: 'application/pdf', path } as const;
    const uploaded = await adapter.send(createPart(ANN, 'look', { file }), noSignal());
    expect(Number(uploaded.platformMessageId)).toBeGreaterThan(Number(sent.platformMessageId));

    await expect.poll(() => calls('setMyCommands').length).toBe(2);
    await adapter.stop();
    const methods = ['sendMessage', 'editMessageText', 'setMessageReaction', 'sendDocument'];
    for (const method of methods) expect(calls(method), method).toHaveLength(1);
    expect(calls('sendMessage')[0]?.body).toMatchObject({ text: '<b>hi</b>', parse_mode: 'HTML' });
  });
});
