import { setTimeout as sleep } from 'node:timers/promises';
import { discordPeer } from '../conformance/channels/discord-peer.ts';
import type { Peer } from '../conformance/channels/peer.ts';
import { telegramPeer } from '../conformance/channels/telegram-peer.ts';
import { whatsappPeer } from '../conformance/channels/whatsapp-peer.ts';
import { untilConnected } from '../e2e/channel-states.ts';
import { makeDataFolder, startParleyProcess } from '../e2e/parley-process.ts';
import { treeMemory } from './processes.ts';
import { quantile } from './report.ts';
import type { Rounds } from './rounds.ts';

/** The cost of a set of channels: medians over the rounds. */
export interface ChannelCost {
  readonly channels: string;
  /** From the start of the process to the banner, and until every channel is connected. */
  readonly bannerMs: number;
  readonly connectedMs: number;
  /** Resident memory after an idle period. */
  readonly memoryMb: number;
}

const SETS: readonly (readonly (() => Promise<Peer>)[])[] = [
  [],
  [telegramPeer],
  [discordPeer],
  [whatsappPeer],
  [telegramPeer, discordPeer, whatsappPeer],
];

/**
 * Startup time and memory by configured channels. The very first start, which compiles everything
 * and links WhatsApp, is not counted.
 */
export async function measureChannels(rounds: Rounds): Promise<ChannelCost[]> {
  const costs: ChannelCost[] = [];
  for (const makers of SETS) costs.push(await measureSet(makers, rounds));
  return costs;
}

async function measureSet(
  makers: readonly (() => Promise<Peer>)[],
  rounds: Rounds,
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

async function startOnce(data: string, peers: readonly Peer[], idleMs: number) {
  const started = performance.now();
  const parley = await startParleyProcess(data);
  const bannerMs = performance.now() - started;
  for (const peer of peers) await peer.link?.(parley);
  await untilConnected(parley);
  const connectedMs = performance.now() - started;
  await sleep(idleMs);
  const memoryMb = treeMemory(parley.pid).rss;
  await parley.end('SIGTERM');
  return { bannerMs, connectedMs, memoryMb };
}

const median = (values: readonly number[]) => quantile(values, 0.5);

/** The costs as a printed table. */
export function renderChannels(costs: readonly ChannelCost[]): string {
  const rows = costs.map(
    ({ channels, bannerMs, connectedMs, memoryMb }) =>
      `| ${channels} | ${bannerMs.toFixed(0)} ms | ${connectedMs.toFixed(0)} ms | ${memoryMb.toFixed(0)} MB |`,
  );
  const header = '| channels | to the banner | all connected | resident |\n|---|---|---|---|';
  return [header, ...rows].join('\n');
}
