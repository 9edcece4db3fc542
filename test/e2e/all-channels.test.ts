import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startDiscordPeer } from '../conformance/channels/discord-peer.ts';
import type { ChatLocation, PlatformPeer } from '../conformance/channels/peer.ts';
import { startTelegramPeer } from '../conformance/channels/telegram-peer.ts';
import { startWhatsAppPeer } from '../conformance/channels/whatsapp-peer.ts';
import { getMessageText } from '../model/chat-request.ts';
import { type ModelDouble, startModelDouble } from '../model/index.ts';
import { waitUntilConnected } from './channel-states.ts';
import {
  type DataFolder,
  makeDataFolder,
  type ParleyProcess,
  startParleyProcess,
} from './parley-process.ts';
import { createWebClient } from './web-client.ts';

let peers: readonly PlatformPeer[];
let model: ModelDouble;
let folder: DataFolder;
let parley: ParleyProcess;
beforeAll(async () => {
  peers = await Promise.all([startTelegramPeer(), startDiscordPeer(), startWhatsAppPeer()]);
  model = await startModelDouble();
  model.reply(({ messages }) => `Heard: ${getMessageText(messages.at(-1)).split('\n').at(-1)}`);
  const access = { direct: 'open', groups: 'open' };
  folder = makeDataFolder({
    model: { provider: 'openai-compatible', baseUrl: model.baseUrl, model: 'double' },
    http: { port: 0 },
    channels: Object.fromEntries(
      peers.map(({ channel, settings }) => [channel, { ...settings, access }]),
    ),
  });
  parley = await startParleyProcess(folder.path);
  for (const peer of peers) await peer.link?.(parley);
  await waitUntilConnected(parley);
});
afterAll(async () => {
  await parley?.end('SIGKILL');
  await Promise.all([...(peers ?? []).map((peer) => peer.close()), model?.close()]);
  folder?.remove();
});

const answersIn = (peer: PlatformPeer, place: ChatLocation) =>
  peer
    .seen(place)
    .filter(({ from }) => from === 'bot')
    .map(({ text }) => text);

describe('one agent on every channel at the same time', () => {
  it('[F03] [F11] answers everyone where they asked, and does not show anyone the other chats', async () => {
    const places = peers.flatMap((peer) => [
      { peer, place: peer.direct(), word: `${peer.channel}-alone` },
      { peer, place: peer.group(), word: `${peer.channel}-together` },
    ]);
    const web = createWebClient(parley);
    const asked = places.map(({ peer, place, word }) =>
      peer.say(place, { text: `hello ${word}`, mention: place.kind === 'group' }),
    );
    await Promise.all([web.post('hello web-alone'), ...asked]);
    await expect.poll(web.history).toHaveLength(2);
    expect((await web.history()).at(-1)).toContain('web-alone');
    for (const { peer, place, word } of places) {
      await peer.waitFor(() => answersIn(peer, place).length > 0);
      const [answer, ...others] = answersIn(peer, place);
      expect(others).toEqual([]);
      expect(answer).toContain(word);
      for (const other of places) if (other.word !== word) expect(answer).not.toContain(other.word);
    }
    for (const { body } of model.requests) {
      const words = new Set(JSON.stringify(body).match(/\b\w+-(?:alone|together)\b/g));
      expect([...words]).toHaveLength(1);
    }
  });

  it('[D12] restarts the adapter whose library throws, without affecting the other channels', async () => {
    const [telegram, discord, whatsapp] = peers;
    discord?.garble?.();
    await expect.poll(parley.err).toContain('the adapter failed');
    expect(parley.err()).toContain('"event":"READY"');
    for (const peer of [telegram, whatsapp, discord].filter((one) => one !== undefined)) {
      const place = peer.direct();
      // Discord keeps messages written while a bot is offline, as every platform does.
      if (peer === discord) await waitUntilConnected(parley);
      await peer.say(place, { text: 'still there?' });
      await peer.waitFor(() => answersIn(peer, place).length > 0);
    }
  });

  it('[D11] shuts down within ten seconds even if a platform library is still waiting for something', async () => {
    const ended = await parley.end('SIGTERM');
    expect(ended.code).toBe(0);
    expect(ended.ms).toBeLessThan(10_000);
  });
});
