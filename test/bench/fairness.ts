import { setTimeout as pause } from 'node:timers/promises';
import { mountSmallDisk } from '../e2e/small-disk.ts';
import { type FaultyProxy, startFaultyProxy } from '../services/faulty-proxy.ts';
import { findTool } from '../services/find-program.ts';
import {
  type Disturbance,
  type SteadyResult,
  startModelSide,
  startTelegramSide,
  type TelegramSide,
} from './doubles.ts';
import {
  type Installation,
  nameTopology,
  startInstallation,
  type Topology,
} from './installation.ts';
import { LIMITED_GROUP } from './people.ts';
import { computeQuantile, formatRounded, renderTable } from './report.ts';
import type { BenchRounds } from './rounds.ts';
import { createSettings, withNewFolder } from './subjects.ts';

/** The latencies of quiet people with and without a disturbance elsewhere. */
export interface FairnessFigures {
  readonly topology: string;
  readonly disturbance: string;
  readonly normal: SteadyResult;
  readonly meanwhile: SteadyResult;
  /**
   * The peak resident memory of one process until the end of the undisturbed time, and overall; in
   * MB.
   */
  readonly normalMb: number;
  readonly peakMb: number;
  /**
   * Whether quiet people share the disturbed resource and are therefore affected; if so, the time
   * after the disturbance is measured.
   */
  readonly shared: boolean;
}

/** The components that a disturbance can affect. */
interface FairnessSite {
  readonly telegram: TelegramSide;
  readonly installation: Installation;
  readonly disk: { fill(): void; empty(): void };
  readonly proxy: { delay(ms: number): void };
}

/** A disturbance elsewhere; resolves when the observation of quiet people should start. */
export interface DisturbanceCase {
  readonly name: string;
  readonly topologies: readonly Topology[];
  readonly needs?: 'small-disk' | 'slow-database';
  /** How long quiet people are observed, in ms. */
  readonly ms: number;
  readonly shared: boolean;
  begin(site: FairnessSite): Promise<void>;
}

const EMBEDDED: Topology = { kind: 'embedded' };
const SPREAD: Topology = { kind: 'roles', workers: 2 };
const BOTH = [EMBEDDED, SPREAD];

/**
 * How long the platform refuses sends, in s. In production this may be five minutes, with the same
 * effect.
 */
const LIMITED_S = 45;
const DISK_FULL_MS = 10_000;
const SLOW_QUERY_MS = 20;

export const TROUBLES: readonly DisturbanceCase[] = [
  createDisturbanceCase('nothing, for comparison', 20_000, null),
  createDisturbanceCase('one chat writes 10,000 messages', 30_000, {
    kind: 'flood',
    messages: 10_000,
    perSecond: 500,
  }),
  createDisturbanceCase('60 chats wait for 60 s', 50_000, {
    kind: 'slow-model',
    chats: 60,
    seconds: 60,
  }),
  createDisturbanceCase(`a person is limited for ${LIMITED_S} s`, 40_000, {
    kind: 'limited',
    place: 'person',
    seconds: LIMITED_S,
  }),
  createDisturbanceCase(`a group is limited for ${LIMITED_S} s`, 40_000, {
    kind: 'limited',
    place: 'group',
    seconds: LIMITED_S,
  }),
  createDisturbanceCase('one chat sends 30 files of 19 MB', 25_000, {
    kind: 'files',
    files: 30,
    megabytes: 19,
  }),
  {
    name: `each query takes ${SLOW_QUERY_MS} ms more`,
    topologies: [SPREAD],
    needs: 'slow-database',
    ms: 30_000,
    shared: true,
    begin: async ({ proxy }) => proxy.delay(SLOW_QUERY_MS),
  },
  {
    name: `after a disk was full for ${DISK_FULL_MS / 1_000} s`,
    topologies: [EMBEDDED],
    needs: 'small-disk',
    ms: 20_000,
    shared: false,
    async begin({ telegram, disk }) {
      disk.fill();
      const waiting = telegram.steady(QUIET, DISK_FULL_MS / 2, PAUSE_MS);
      await pause(DISK_FULL_MS);
      disk.empty();
      const { unanswered } = await waiting;
      if (unanswered > 0) process.stderr.write(`  ${unanswered} were never answered\n`);
    },
  },
];

function createDisturbanceCase(
  name: string,
  ms: number,
  disturbance: Disturbance | null,
): DisturbanceCase {
  return {
    name,
    topologies: BOTH,
    ms,
    shared: false,
    begin: async ({ telegram }) => {
      if (disturbance !== null) await telegram.disturb(disturbance);
    },
  };
}

/** The number of quiet people, each of whom writes about once every second or two. */
const QUIET = 20;
const PAUSE_MS = 1_000;
const MODEL_MS = 200;
const WARM_UP_MS = 6_000;
/** Enough space for the messages and prompts of 20 people in a minute. */
const DISK_MB = 96;

/** Runs each disturbance on each deployment, in a separate installation. */
export async function measureFairness(
  { fairnessMs }: Pick<BenchRounds, 'fairnessMs'>,
  troubles: readonly DisturbanceCase[] = TROUBLES,
): Promise<FairnessFigures[]> {
  const model = await startModelSide(MODEL_MS);
  const figures: FairnessFigures[] = [];
  const mount = await findTool('mount');
  try {
    for (const trouble of troubles) {
      for (const topology of trouble.topologies) {
        process.stderr.write(`  ${nameTopology(topology)}: ${trouble.name} …\n`);
        if (trouble.needs === 'small-disk' && mount.state === 'missing') continue;
        const found = await measureCase(trouble, topology, model.baseUrl, fairnessMs);
        process.stderr.write(
          `  ${summarizeSteady(found.normal)} → ${summarizeSteady(found.meanwhile)}\n`,
        );
        figures.push(found);
      }
    }
  } finally {
    await model.close();
  }
  return figures;
}

function summarizeSteady({ latencies, unanswered }: SteadyResult): string {
  const ms = (share: number) => computeQuantile(latencies, share).toFixed(0);
  const lost = unanswered > 0 ? `, ${unanswered} unanswered` : '';
  return latencies.length === 0 ? `nobody answered${lost}` : `${ms(0.5)}/${ms(0.95)} ms${lost}`;
}

async function measureCase(
  trouble: DisturbanceCase,
  topology: Topology,
  modelUrl: string,
  normalMs: number,
): Promise<FairnessFigures> {
  return withNewFolder(async (folder) => {
    await using opened = new AsyncDisposableStack();
    const site = await openSite(trouble, topology, { folder, modelUrl }, opened);
    const { telegram, installation } = site;
    await telegram.firstPoll();
    await telegram.steady(QUIET, WARM_UP_MS, PAUSE_MS);
    const normal = await telegram.steady(QUIET, normalMs, PAUSE_MS);
    const normalMb = installation.peakMb();
    await trouble.begin(site);
    const meanwhile = await telegram.steady(QUIET, trouble.ms, PAUSE_MS);
    const peakMb = installation.peakMb();
    const { name, shared } = trouble;
    const about = { topology: nameTopology(topology), disturbance: name, shared };
    return { ...about, normal, meanwhile, normalMb, peakMb };
  });
}

/** An installation together with everything that can be disturbed around it. */
async function openSite(
  { needs }: DisturbanceCase,
  topology: Topology,
  { folder, modelUrl }: { folder: string; modelUrl: string },
  opened: AsyncDisposableStack,
): Promise<FairnessSite> {
  const telegram = await startTelegramSide();
  opened.defer(telegram.close);
  const small = needs === 'small-disk' ? mountSmallDisk(DISK_MB) : undefined;
  opened.defer(() => small?.remove());
  let proxy: FaultyProxy | undefined;
  opened.defer(async () => proxy?.close());
  const installation = await startInstallation({
    topology,
    folder,
    dataIn: small?.path,
    settings: createGroupSettings({ telegram, modelUrl }),
    through: async (postgresUrl) => {
      if (needs !== 'slow-database') return postgresUrl;
      proxy = await startFaultyProxy(postgresUrl);
      return proxy.url;
    },
  });
  opened.defer(installation.stop);
  const disk = small ?? { fill() {}, empty() {} };
  return { telegram, installation, disk, proxy: { delay: (ms) => proxy?.delay(ms) } };
}

function createGroupSettings(where: Parameters<typeof createSettings>[0]): object {
  const settings = createSettings(where);
  const access = { direct: 'open', groups: 'allowlist', allowGroups: [LIMITED_GROUP] };
  return { ...settings, channels: { telegram: { ...settings.channels.telegram, access } } };
}

/** The maximum slowdown factor for quiet people. */
const LIMIT = 2;

/** How quiet people are affected by disturbances elsewhere. */
export function renderFairness(figures: readonly FairnessFigures[]): string {
  const head = [
    '20 quiet chats while …',
    '',
    'normal p50',
    'p95',
    'meanwhile p50',
    'p95',
    'slowest',
    'times p50',
    'p95',
    `≤ ${LIMIT}`,
    'MB before',
    'at most',
  ];
  return renderTable([head, ...figures.map(formatRow)]);
}

function formatRow(figures: FairnessFigures): string[] {
  const { disturbance, topology, normal, meanwhile, normalMb, peakMb } = figures;
  const times = { p50: computeRatio(figures, 0.5), p95: computeRatio(figures, 0.95) };
  const met = Math.max(times.p50, times.p95) <= LIMIT && meanwhile.unanswered === 0;
  const lost = meanwhile.unanswered > 0 ? ` (${meanwhile.unanswered} unanswered)` : '';
  return [
    disturbance,
    topology,
    formatLatency(normal, 0.5),
    formatLatency(normal, 0.95),
    formatLatency(meanwhile, 0.5),
    formatLatency(meanwhile, 0.95),
    formatLatency(meanwhile, 1),
    formatRounded(times.p50),
    formatRounded(times.p95),
    `${met ? 'met' : 'MISSED'}${lost}`,
    normalMb.toFixed(0),
    peakMb.toFixed(0),
  ];
}

function computeRatio({ normal, meanwhile }: FairnessFigures, share: number): number {
  if (meanwhile.latencies.length === 0) return Number.POSITIVE_INFINITY;
  return computeQuantile(meanwhile.latencies, share) / computeQuantile(normal.latencies, share);
}

function formatLatency({ latencies }: SteadyResult, share: number): string {
  return latencies.length === 0 ? '–' : `${formatRounded(computeQuantile(latencies, share))} ms`;
}
