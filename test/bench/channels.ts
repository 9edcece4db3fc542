import { setTimeout as sleep } from 'node:timers/promises';
import { startDiscordPeer } from '../conformance/channels/discord-peer.ts';
import type { PlatformPeer } from '../conformance/channels/peer.ts';
import { startTelegramPeer } from '../conformance/channels/telegram-peer.ts';
import { startWhatsAppPeer } from '../conformance/channels/whatsapp-peer.ts';
import { waitUntilConnected } from '../e2e/channel-states.ts';
import { makeDataFolder, startParleyProcess } from '../e2e/parley-process.ts';
import { readTreeMemory } from './processes.ts';
import { computeQuantile } from './report.ts';
import type { BenchRounds } from './rounds.ts';

/** The cost of a set of channels: medians over the rounds. */
export interface ChannelCost {
  readonly channels: string;
  /** From the start of the process to the banner, and until every channel is connected. */
  readonly bannerMs: number;
  readonly connectedMs: number;
  /** Resident memory after an idle period. */
  readonly memoryMb: number;
}

const SETS: readonly (readonly (() => Promise<PlatformPeer>)[])[] = [
  [],
  [startTelegramPeer],
  [startDiscordPeer],
  [startWhatsAppPeer],
  [startTelegramPeer, startDiscordPeer, startWhatsAppPeer],
];

/**
 * Startup time and memory with different sets of channels. The very first start, which compiles
 * everything and links WhatsApp, is not counted.
 */
export async function measureChannels(rounds: BenchRounds): Promise<ChannelCost[]> {
  const costs: ChannelCost[] = [];
  for (const makers of SETS) costs.push(await measureSet(makers, rounds));
  return costs;
}

async function measureSet(
  makers: readonly (() => Promise<PlatformPeer>)[],
  rounds: BenchRounds,
): Promise<ChannelCost> {
  const peers = await Promise.all(makers.map((make) => make()));
  const folder = makeDataFolder({
    model: { provider: 'offline' },
    http: { port: 0 },
    spend: { perStrangerDaily: 'off' },
    channels: Object.fromEntries(peers.map(({ channel, settings }) => [channel, settings])),
  });
  try {
    await startOnce(folder.path, peers, 0);
    const starts: Awaited<ReturnType<typeof startOnce>>[] = [];
    for (let round = 0; round < Math.ceil(rounds.starts / 2); round += 1) {
      starts.push(await startOnce(folder.path, peers, rounds.idleMs));
    }
    return {
      channels: peers.map(({ channel }) => channel).join(', ') || 'web and terminal alone',
      bannerMs: median(starts.map(({ bannerMs }) => bannerMs)),
      connectedMs: median(starts.map(({ connectedMs }) => connectedMs)),
      memoryMb: median(starts.map(({ memoryMb }) => memoryMb)),
    };
  } finally {
    await Promise.all(peers.map((peer) => peer.close()));
    folder.remove();
  }
}

async function startOnce(data: string, peers: readonly PlatformPeer[], idleMs: number) {
  const started = performance.now();
  const parley = await startParleyProcess(data);
  const bannerMs = performance.now() - started;
  for (const peer of peers) await peer.link?.(parley);
  await waitUntilConnected(parley);
  const connectedMs = performance.now() - started;
  await sleep(idleMs);
  const memoryMb = readTreeMemory(parley.pid).rss;
  await parley.end('SIGTERM');
  return { bannerMs, connectedMs, memoryMb };
}

const median = (values: readonly number[]) => computeQuantile(values, 0.5);

export function renderChannels(costs: readonly ChannelCost[]): string {
  const rows = costs.map(
    ({ channels, bannerMs, connectedMs, memoryMb }) =>
      `| ${channels} | ${bannerMs.toFixed(0)} ms | ${connectedMs.toFixed(0)} ms | ${memoryMb.toFixed(0)} MB |`,
  );
  const header = '| channels | to the banner | all connected | resident |\n|---|---|---|---|';
  return [header, ...rows].join('\n');
}
