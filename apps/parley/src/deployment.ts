import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { type Clock, type Logger, newId, reasonOf } from '@parley/core';
import { startSweep } from '@parley/queue';
import type { ProcessInfo, RunningProcess, Store } from '@parley/store';
import manifest from '../package.json' with { type: 'json' };
import { CliError, type DataFolder } from './data-folder.ts';
import type { LoadedSettings } from './settings.ts';

/** Larger differences (ms) from the database's clock are reported. */
const CLOCK_REPORTED_MS = 2_000;
/**
 * The largest safe difference (ms) between the clocks of two processes. Leases use the database's
 * clock, but other times come from the process that stores them. With a larger difference, another
 * process would retry failed sends too early or too late.
 */
const CLOCK_UNSAFE_MS = 4_000;

/**
 * A difference between a process and its deployment. If it is `unsafe`, the processes must not run
 * side by side.
 */
export interface DeploymentDifference {
  readonly what: 'agent' | 'workspace' | 'clock' | 'version' | 'settings';
  readonly unsafe: boolean;
  readonly text: string;
}

interface CurrentProcess {
  readonly store: Pick<Store, 'processes'>;
  readonly clock: Clock;
  readonly log: Logger;
}

type ComparedProcess = Pick<RunningProcess, 'version' | 'facts'>;

/**
 * Compares a process with the longest-running process of its deployment; null if this process is
 * the first. Different settings are only reported, because they occur in every rolling restart with
 * new settings.
 */
export function listDifferences(
  own: ComparedProcess,
  oldest: ComparedProcess | null,
): readonly DeploymentDifference[] {
  const { facts } = own;
  if (facts === undefined) return [];
  const ahead = facts.clockAheadMs;
  const other = oldest?.facts;
  const apart = other === undefined ? 0 : Math.abs(ahead - other.clockAheadMs);
  const found: DeploymentDifference[] = [];
  if (Math.abs(ahead) > CLOCK_REPORTED_MS || apart > CLOCK_UNSAFE_MS) {
    const seconds = (Math.abs(ahead) / 1_000).toFixed(1);
    const direction = ahead < 0 ? 'behind' : 'ahead of';
    const text = `its clock is ${seconds} s ${direction} the database's clock; synchronize it (NTP)`;
    found.push({ what: 'clock', unsafe: apart > CLOCK_UNSAFE_MS, text });
  }
  if (oldest !== null && oldest.version !== own.version) {
    const text = `it is Parley ${own.version}, the oldest process is ${oldest.version}`;
    found.push({ what: 'version', unsafe: false, text });
  }
  if (other === undefined) return found;
  if (other.agent !== facts.agent) {
    const text = `its agent is "${facts.agent}" (agent.id), but the other processes use "${other.agent}"`;
    found.push({ what: 'agent', unsafe: true, text });
  }
  if (facts.workspace !== other.workspace && facts.workspace !== null && other.workspace !== null) {
    const text = 'its workspace (agent.workspace) is not the folder that the other processes use';
    found.push({ what: 'workspace', unsafe: true, text });
  }
  const names = new Set([...Object.keys(facts.settings), ...Object.keys(other.settings)]);
  const differing = [...names].filter((name) => facts.settings[name] !== other.settings[name]);
  if (differing.length > 0) {
    const text = `its settings differ in ${differing.toSorted().join(', ')}`;
    found.push({ what: 'settings', unsafe: false, text });
  }
  return found;
}

/** Describes how each process differs from the oldest one. `processes` is sorted by age. */
export function describeProcessDifferences<P extends ComparedProcess>(
  processes: readonly P[],
): readonly (P & { readonly notes: readonly string[] })[] {
  return processes.map((one, at) => ({
    ...one,
    notes: listDifferences(one, at === 0 ? null : (processes[0] ?? null)).map(({ text }) => text),
  }));
}

/**
 * Returns how far (ms) this clock is ahead of the database's clock. Differences that the round trip
 * could explain count as zero.
 */
export function computeClockLead(asked: number, answered: number, database: number): number {
  const ahead = (asked + answered) / 2 - database;
  return Math.sign(ahead) * Math.max(0, Math.round(Math.abs(ahead) - (answered - asked) / 2));
}

/**
 * Logs how this process differs from its deployment. Throws CliError `stranger` if the difference
 * is unsafe.
 */
export async function checkDeployment(
  { store, clock, log }: CurrentProcess,
  loaded: LoadedSettings,
  folder: DataFolder,
): Promise<ProcessInfo> {
  const asked = clock();
  const time = await store.processes.time();
  const facts: ProcessInfo = {
    agent: loaded.settings.agent.id,
    workspace: await readWorkspaceId(loaded.settings.agent.workspace),
    settings: hashSections(loaded, folder),
    clockAheadMs: computeClockLead(asked, clock(), time),
  };
  const [oldest = null] = await store.processes.list();
  const found = listDifferences({ version: manifest.version, facts }, oldest);
  for (const { what, text } of found)
    log.warn({ what }, `this process does not match its deployment: ${text}`);
  const unsafe = found.filter((one) => one.unsafe).map(({ text }) => text);
  if (unsafe.length === 0 || oldest === null) return facts;
  throw new CliError(
    'stranger',
    `This process does not match the ${oldest.role === 'all' ? 'Parley' : oldest.role} on ${oldest.host} (process ${oldest.pid}) that uses the same database: ${unsafe.join('; ')}. Fix that, or stop the other processes first.`,
  );
}

/**
 * Reads the id stored in the workspace. Machines that mount the workspace under different paths
 * recognize it by this id.
 */
export async function readWorkspaceId(workspace: string): Promise<string | null> {
  const home = join(workspace, '.parley');
  const file = join(home, 'id');
  const read = () => readFile(file, 'utf8').catch(() => null);
  const known = await read();
  if (known !== null && known !== '') return known;
  // Another process may have created the folder first, or the parent is read-only.
  await mkdir(home).catch(() => undefined);
  await writeFile(file, newId('workspace'), { flag: 'wx', mode: 0o600 }).catch(() => undefined);
  return (await read()) || null;
}

/** The settings sections that may differ between machines or processes. */
const OWN_SECTIONS: ReadonlySet<string> = new Set(['http', 'log', 'store', 'queue', 'telemetry']);

/** The workspace is omitted because its path may differ between machines. */
function getSharedSections(settings: Pick<LoadedSettings['settings'], 'agent'>) {
  return Object.entries({ ...settings, agent: { ...settings.agent, workspace: '' } }).filter(
    ([name]) => !OWN_SECTIONS.has(name),
  );
}

/** Returns one hash per section, so that processes can compare settings without revealing them. */
export function hashSections(
  { settings: { agents: _, ...settings }, agents, channels, secrets }: LoadedSettings,
  { path }: Pick<DataFolder, 'path'>,
): Record<string, string> {
  const sections = [
    ...getSharedSections(settings),
    ...[...agents].map(([name, { agents: _, ...own }]) => {
      return [`agents.${name}`, getSharedSections(own)] as const;
    }),
    ...Object.entries(channels).map(([name, value]) => [`channels.${name}`, value] as const),
  ];
  const hide = [...secrets, path].filter((text) => text !== '');
  return Object.fromEntries(
    sections.map(([name, value]) => {
      const text = hide.reduce((all, one) => all.replaceAll(one, '*'), JSON.stringify(value));
      return [name, createHash('sha256').update(text).digest('hex').slice(0, 16)];
    }),
  );
}

/**
 * The heartbeat interval (ms) of a process. Two heartbeats fit into the 15 s after which a process
 * is considered dead.
 */
const BEAT_MS = 7_000;

interface ProcessAnnouncement extends CurrentProcess {
  /** Called at most once, when a newer Parley has changed the database. */
  readonly onOutdated?: ((version: string) => void) | undefined;
}

/**
 * Returns the address at which other machines can reach a server that listens on all interfaces of
 * the machine `host`.
 */
function toReachableUrl(host: string, address: string): string {
  return address.replace(/\/\/(0\.0\.0\.0|\[::\]):/, `//${host}:`);
}

/**
 * Records every few seconds that this process is running. The returned function records that the
 * process has ended.
 */
export function announceProcess(
  { store, clock, log, onOutdated }: ProcessAnnouncement,
  { id, role, address }: Pick<RunningProcess, 'id' | 'role' | 'address'>,
  known: {
    readonly facts: ProcessInfo;
    readonly workspace: string;
    /** It is a function because the settings can change while the process runs. */
    readonly settingsNow: () => ProcessInfo['settings'];
  },
): () => Promise<void> {
  const { version } = manifest;
  const host = hostname();
  const own = { id, role, host, pid: process.pid, version };
  const row = { ...own, address: toReachableUrl(host, address) };
  let isOutdated = false;
  let { facts } = known;
  const say = async (): Promise<void> => {
    // A restore may have replaced the workspace folder.
    const workspace = await readWorkspaceId(known.workspace);
    facts = { ...facts, workspace, settings: known.settingsNow() };
    const asked = clock();
    const result = await store.processes.heartbeat({ ...row, facts });
    if (result.kind === 'outdated') {
      isOutdated = true;
      onOutdated?.(result.newer);
      return;
    }
    const now = { ...facts, clockAheadMs: computeClockLead(asked, clock(), result.time) };
    const isKnown = listDifferences({ version, facts }, null).length > 0;
    for (const { what, text } of isKnown ? [] : listDifferences({ version, facts: now }, null)) {
      log.warn({ what }, `this process does not match its deployment: ${text}`);
    }
    facts = now;
  };
  const heartbeats = startSweep('process', BEAT_MS, log, async () => {
    if (!isOutdated) await say();
  });
  return async () => {
    await heartbeats.stop();
    // If the database is unreachable, other processes notice the missing heartbeat.
    await store.processes.leave(id).catch((error: unknown) => {
      log.warn({ reason: reasonOf(error) }, 'the shutdown of this process was not recorded');
    });
  };
}

/**
 * How long (ms) to hold the lease that elects one gateway when several start at the same time and
 * cannot see each other yet.
 */
const SAME_MOMENT_MS = 10_000;

/**
 * Returns whether this gateway is the first of its deployment. A gateway that joins running
 * gateways, for example in a rolling restart, is not the first.
 */
export async function isFirstGateway(
  store: Pick<Store, 'leases' | 'processes'>,
  processId: string,
): Promise<boolean> {
  const others = await store.processes.list();
  if (others.some(({ id, role }) => role !== 'worker' && id !== processId)) return false;
  const { kind } = await store.leases.acquire('boot', processId, SAME_MOMENT_MS);
  return kind === 'held';
}
