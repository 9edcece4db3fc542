import type { IngressOutcome } from '@parley/channels';
import type { InboundMessage } from '@parley/core';
import { startTelegramDouble } from '@parley/simulators/telegram';
import { afterEach, describe, expect, it } from 'vitest';
import { accepted } from '../adapter-core.ts';
import { addCleanup, endHosted, startHosted } from './hosted-scene.ts';

afterEach(endHosted);

/** An unknown adapter that polls in its own loop instead of using webhooks. */
async function pollingScene(receive?: (message: InboundMessage) => Promise<IngressOutcome>) {
  const double = await startTelegramDouble();
  addCleanup(() => double.close());
  const scene = await startHosted({
    ...(receive && { receive }),
    id: 'another',
    use: '@chat-adapter/telegram',
    options: { botToken: double.token, apiBaseUrl: double.apiRoot, mode: 'polling' },
    changed: () => double.transcript.changes.changed(),
  });
  await scene.adapter.start();
  await double.waitFor(() => scene.states.at(-1)?.kind === 'connected');
  return { ...scene, double };
}

describe('an untested adapter', () => {
  it('[F15] receives and sends, but does not promise any other ability', async () => {
    const { adapter, double, received } = await pollingScene();
    double.say({ chat: 501, text: 'hello' });
    await double.waitFor(() => received.length === 1);
    expect(received[0]).toMatchObject({
      ...{ channel: 'another', text: 'hello', addressed: true },
      chat: { type: 'direct' },
    });
    const { target, buttons, edit, media } = adapter.capabilities;
    expect({ buttons, edit, media }).toEqual({ buttons: false, edit: false, media: [] });
    const chatId = received[0]?.chat.id ?? '';
    const route = { channel: 'another', account: 'default', chatId, target };
    const body = { text: 'hi there', plain: 'hi there' };
    const ids = { id: 'p', idempotencyKey: 'k', turnId: null, index: null };
    await adapter.send({ ...ids, route, body }, AbortSignal.timeout(5_000));
    expect(double.conversation(501).at(-1)).toMatchObject({ from: 'bot', text: 'hi there' });
  });

  it('[D01] stores a message as soon as possible, because its loop never redelivers', async () => {
    let failures = 2;
    const { double, received, logged } = await pollingScene(async () => {
      failures -= 1;
      if (failures >= 0) throw new Error('disk is full');
      return accepted;
    });
    double.say({ chat: 501, text: 'hello' });
    await double.waitFor(() => failures < 0);
    expect(received.map(({ text }) => text)).toEqual(['hello', 'hello', 'hello']);
    expect(logged.join()).toContain('disk is full');
  });
});
