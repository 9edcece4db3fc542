import { setTimeout as pause } from 'node:timers/promises';
import { startTelegramDouble } from '@parley/simulators/telegram';
import { startModelSide, startTelegramSide } from './doubles.ts';
import {
  type ByPart,
  nameTopology,
  startInstallation,
  subtractParts,
  type Topology,
  waitUntilQuiet,
} from './installation.ts';
import { formatRounded, renderTable } from './report.ts';
import { createSettings, withNewFolder } from './subjects.ts';

/** The cost of a deployment while nobody writes. */
export interface IdleFigures {
  readonly name: string;
  /** Proportional memory of each process, in MB. */
  readonly memoryMb: ByPart;
  /** Processor time in seconds per hour, by component. */
  readonly cpuSeconds: ByPart;
  /** Redis commands per second; absent without servers. */
  readonly redisCommands: number | undefined;
  readonly statements: number | undefined;
  readonly transactions: number | undefined;
}

interface IdleSubject {
  readonly topology: Topology;
  readonly accounts: number;
}

const INSTALLATIONS: readonly IdleSubject[] = [
  { topology: { kind: 'embedded' }, accounts: 1 },
  { topology: { kind: 'roles', workers: 1 }, accounts: 1 },
  { topology: { kind: 'roles', workers: 4 }, accounts: 1 },
  // Shows what a gateway needs for each of the accounts that it serves.
  { topology: { kind: 'roles', workers: 1 }, accounts: 50 },
  { topology: { kind: 'roles', workers: 1 }, accounts: 200 },
];
/** How long deferred startup work takes, in ms. */
const SETTLE_MS = 15_000;

/**
 * Observes each idle installation for `idleMs`; if `topologies` is given, observes only those, each
 * with one account.
 */
export async function measureIdle(
  idleMs: number,
  topologies?: readonly Topology[],
): Promise<IdleFigures[]> {
  const installations = topologies?.map((topology) => ({ topology, accounts: 1 })) ?? INSTALLATIONS;
  const model = await startModelSide();
  const figures: IdleFigures[] = [];
  try {
    for (const installation of installations) {
      process.stderr.write(`  idle: ${formatTitle(installation)} …\n`);
      figures.push(await measureOne(installation, model.baseUrl, idleMs));
    }
  } finally {
    await model.close();
  }
  return figures;
}

function formatTitle({ topology, accounts }: IdleSubject): string {
  return `${nameTopology(topology)}${accounts === 1 ? '' : `, ${accounts} accounts`}`;
}

async function measureOne(
  one: IdleSubject,
  modelUrl: string,
  idleMs: number,
): Promise<IdleFigures> {
  return withNewFolder(async (folder) => {
    await using opened = new AsyncDisposableStack();
    const telegram = await startTelegramSide();
    opened.defer(telegram.close);
    const settings = createSettings({ telegram, modelUrl });
    const first = settings.channels.telegram;
    const accounts: Record<string, object> = { default: first };
    for (let number = 1; number < one.accounts; number += 1) {
      const botToken = `${7_100_000_000 + number}:double-token-for-tests-and-trying-out`;
      const { token, apiRoot, close } = await startTelegramDouble({ botToken });
      opened.defer(close);
      accounts[`bot-${number}`] = { ...first, token, apiRoot };
    }
    const channels = { telegram: { accounts } };
    const { topology } = one;
    const installation = await startInstallation({
      topology,
      folder,
      settings: { ...settings, channels },
    });
    opened.defer(installation.stop);
    await telegram.firstPoll();
    await telegram.oneByOne(5);
    await waitUntilQuiet(installation, SETTLE_MS);
    const countsBefore = await installation.counts();
    const cpuBefore = installation.cpuMs();
    const started = performance.now();
    await pause(idleMs);
    const cpu = subtractParts(cpuBefore, installation.cpuMs());
    const seconds = (performance.now() - started) / 1_000;
    const counts = await installation.counts();
    const perSecond = (of: 'redisCommands' | 'statements' | 'transactions') =>
      counts &&
      countsBefore &&
      ((counts[of] - countsBefore[of]) / (counts.at - countsBefore.at)) * 1_000;
    const anHour = (ms: number) => (ms / 1_000 / seconds) * 3_600;
    return {
      name: formatTitle(one),
      memoryMb: installation.residentMb(),
      cpuSeconds: Object.fromEntries(Object.entries(cpu).map(([part, ms]) => [part, anHour(ms)])),
      redisCommands: perSecond('redisCommands'),
      statements: perSecond('statements'),
      transactions: perSecond('transactions'),
    };
  });
}

export function renderIdle(figures: readonly IdleFigures[]): string {
  const head = [
    'nobody writes',
    'CPU s an hour',
    'by part',
    'MB',
    'Redis commands/s',
    'statements/s',
    'transactions/s',
  ];
  const rows = figures.map(
    ({ name, cpuSeconds, memoryMb, redisCommands, statements, transactions }) => [
      name,
      formatRounded(Object.values(cpuSeconds).reduce((sum, one) => sum + one, 0)),
      formatParts(cpuSeconds),
      formatParts(memoryMb),
      redisCommands === undefined ? '' : formatRounded(redisCommands),
      statements === undefined ? '' : formatRounded(statements),
      transactions === undefined ? '' : formatRounded(transactions),
    ],
  );
  return renderTable([head, ...rows]);
}

function formatParts(parts: ByPart): string {
  return Object.entries(parts)
    .map(([part, value]) => `${part} ${formatRounded(value)}`)
    .join(', ');
}
