import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { type Clock, type Logger, newId, reasonOf } from '@parley/core';
import { startSweep } from '@parley/queue';
import type { ProcessFacts, RunningProcess, Store } from '@parley/store';
import manifest from '../package.json' with { type: 'json' };
import { CliError, type DataFolder } from './data-folder.ts';
import type { LoadedSettings } from './settings.ts';

/** A clock that differs by more from the database's is reported. In ms. */
const CLOCK_REPORTED_MS = 2_000;
/**
 * Leases count on the database's clock, but moments are stored by each process's own: further apart, the one that
 * serves an account next repeats a failed send too early or too late. In ms.
 */
const CLOCK_UNSAFE_MS = 4_000;

/** Something in which a process differs from its deployment. `unsafe`: they must not run side by side. */
export interface Difference {
  readonly what: 'agent' | 'workspace' | 'clock' | 'version' | 'settings';
  readonly unsafe: boolean;
  readonly text: string;
}

interface Process {
  readonly store: Pick<Store, 'processes'>;
  readonly clock: Clock;
  readonly log: Logger;
}

type Judged = Pick<RunningProcess, 'version' | 'facts'>;

/**
 * The differences of a process from the one of its deployment that has run longest (null: it is the first). Other
 * settings are only reported, since a rolling restart with new ones passes through that.
 */
export function differences(own: Judged, oldest: Judged | null): readonly Difference[] {
  const { facts } = own;
  if (facts === undefined) return [];
  const ahead = facts.clockAheadMs;
  const other = oldest?.facts;
  const apart = other === undefined ? 0 : Math.abs(ahead - other.clockAheadMs);
  const found: Difference[] = [];
  if (Math.abs(ahead) > CLOCK_REPORTED_MS || apart > CLOCK_UNSAFE_MS) {
    const seconds = (Math.abs(ahead) / 1_000).toFixed(1);
    const direction = ahead < 0 ? 'behind' : 'ahead of';
    const text = `its clock is ${seconds} s ${direction} the database's; synchronize it (NTP)`;
    found.push({ what: 'clock', unsafe: apart > CLOCK_UNSAFE_MS, text });
  }
  if (oldest !== null && oldest.version !== own.version) {
    const text = `it is Parley ${own.version}, the oldest process is ${oldest.version}`;
    found.push({ what: 'version', unsafe: false, text });
  }
  if (other === undefined) return found;
  if (other.agent !== facts.agent) {
    const text = `its agent is "${facts.agent}" (agent.id), that of the others "${other.agent}"`;
    found.push({ what: 'agent', unsafe: true, text });
  }
  if (facts.workspace !== other.workspace && facts.workspace !== null && other.workspace !== null) {
    const text = 'its workspace (agent.workspace) is another folder than that of the others';
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

/** For each process how it differs from the oldest one; `processes` is sorted by age. */
export function describeStrangers<P extends Judged>(
  processes: readonly P[],
): readonly (P & { readonly notes: readonly string[] })[] {
  return processes.map((one, at) => ({
    ...one,
    notes: differences(one, at === 0 ? null : (processes[0] ?? null)).map(({ text }) => text),
  }));
}

/** The lead of this clock; time that the question itself may have taken does not count. */
export function clockAhead(asked: number, answered: number, database: number): number {
  const ahead = (asked + answered) / 2 - database;
  return Math.sign(ahead) * Math.max(0, Math.round(Math.abs(ahead) - (answered - asked) / 2));
}

/** Logs in what this process differs from its deployment. Throws CliError `stranger` where that is unsafe. */
export async function checkStrangers(
  { store, clock, log }: Process,
  loaded: LoadedSettings,
  folder: DataFolder,
): Promise<ProcessFacts> {
  const asked = clock();
  const time = await store.processes.time();
  const facts: ProcessFacts = {
    agent: loaded.settings.agent.id,
    workspace: await workspaceId(loaded.settings.agent.workspace),
    settings: sectionHashes(loaded, folder),
    clockAheadMs: clockAhead(asked, clock(), time),
  };
  const [oldest = null] = await store.processes.list();
  const found = differences({ version: manifest.version, facts }, oldest);
  for (const { what, text } of found)
    log.warn({ what }, `this process does not fit its deployment: ${text}`);
  const unsafe = found.filter((one) => one.unsafe).map(({ text }) => text);
  if (unsafe.length === 0 || oldest === null) return facts;
  throw new CliError(
    'stranger',
    `This process does not fit the ${oldest.role === 'all' ? 'Parley' : oldest.role} on ${oldest.host} (process ${oldest.pid}) that works on the same database: ${unsafe.join('; ')}. Correct that, or stop the others first.`,
  );
}

/** An id that is kept in the folder, so that machines which reach it by other paths know it. */
export async function workspaceId(workspace: string): Promise<string | null> {
  const home = join(workspace, '.parley');
  const file = join(home, 'id');
  const read = () => readFile(file, 'utf8').catch(() => null);
  const known = await read();
  if (known !== null && known !== '') return known;
  // Another process may be first, or the folder cannot be written.
  await mkdir(home).catch(() => undefined);
  await writeFile(file, newId('workspace'), { flag: 'wx', mode: 0o600 }).catch(() => undefined);
  return (await read()) || null;
}

/** The sections that each machine or process may have for itself. */
const OWN_SECTIONS: ReadonlySet<string> = new Set(['http', 'log', 'store', 'queue', 'telemetry']);

/** A workspace may be reached by another path. */
function sharedSections(settings: Pick<LoadedSettings['settings'], 'agent'>) {
  return Object.entries({ ...settings, agent: { ...settings.agent, workspace: '' } }).filter(
    ([name]) => !OWN_SECTIONS.has(name),
  );
}

/** Hashes by which the settings of two processes are compared, section by section, without revealing them. */
export function sectionHashes(
  { settings: { agents: _, ...settings }, agents, channels, secrets }: LoadedSettings,
  { path }: Pick<DataFolder, 'path'>,
): Record<string, string> {
  const sections = [
    ...sharedSections(settings),
    ...[...agents].map(([name, { agents: _, ...own }]) => {
      return [`agents.${name}`, sharedSections(own)] as const;
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

/** Twice and a little in the time after which a process counts as gone (15 s). */
const BEAT_MS = 7_000;

interface Announcing extends Process {
  /** Hears that a newer Parley has changed the database, at most once. */
  readonly onOutdated?: ((version: string) => void) | undefined;
}

/** The address at which others reach a server of the machine `host` that listens on all its addresses. */
function addressFrom(host: string, address: string): string {
  return address.replace(/\/\/(0\.0\.0\.0|\[::\]):/, `//${host}:`);
}

/** Records every few seconds that this process runs; the returned function records its end. */
export function announceProcess(
  { store, clock, log, onOutdated }: Announcing,
  { id, role, address }: Pick<RunningProcess, 'id' | 'role' | 'address'>,
  known: {
    readonly facts: ProcessFacts;
    readonly workspace: string;
    /** They change while it runs. */
    readonly settingsNow: () => ProcessFacts['settings'];
  },
): () => Promise<void> {
  const { version } = manifest;
  const host = hostname();
  const own = { id, role, host, pid: process.pid, version };
  const row = { ...own, address: addressFrom(host, address) };
  let isOutdated = false;
  let { facts } = known;
  const say = async (): Promise<void> => {
    // A restore may have put another folder there.
    const workspace = await workspaceId(known.workspace);
    facts = { ...facts, workspace, settings: known.settingsNow() };
    const asked = clock();
    const result = await store.processes.heartbeat({ ...row, facts });
    if (result.kind === 'outdated') {
      isOutdated = true;
      onOutdated?.(result.newer);
      return;
    }
    const now = { ...facts, clockAheadMs: clockAhead(asked, clock(), result.time) };
    const isKnown = differences({ version, facts }, null).length > 0;
    for (const { what, text } of isKnown ? [] : differences({ version, facts: now }, null)) {
      log.warn({ what }, `this process does not fit its deployment: ${text}`);
    }
    facts = now;
  };
  const heartbeats = startSweep('process', BEAT_MS, log, async () => {
    if (!isOutdated) await say();
  });
  return async () => {
    await heartbeats.stop();
    // Where the database is away the others notice by themselves.
    await store.processes.leave(id).catch((error: unknown) => {
      log.warn({ reason: reasonOf(error) }, 'the end of this process is not recorded');
    });
  };
}

/** Gateways that start in the same moment do not see each other yet; a lease of this length decides. In ms. */
const SAME_MOMENT_MS = 10_000;

/** Whether a deployment starts with this gateway; one that joins others, as in a rolling restart, is no start. */
export async function isFirstGateway(
  store: Pick<Store, 'leases' | 'processes'>,
  processId: string,
): Promise<boolean> {
  const others = await store.processes.list();
  if (others.some(({ id, role }) => role !== 'worker' && id !== processId)) return false;
  const { kind } = await store.leases.acquire('boot', processId, SAME_MOMENT_MS);
  return kind === 'held';
}
