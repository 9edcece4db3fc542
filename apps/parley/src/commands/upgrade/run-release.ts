import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { reasonOf, systemTime } from '@parley/core';
import { startTelegramDouble, type TelegramDouble } from '@parley/simulators/telegram';
import { copyIntoOlderSchema, measureTables, type TableSize } from '@parley/store/backup';
import { locateDataFolder } from '../../data-folder.ts';
import { type PlayedAnswer, type PlayLimits, playMessages } from './play-messages.ts';
import type { PlayedMessage } from './played-messages.ts';
import {
  type CheckedSettings,
  createRehearsalSettings,
  giveFolder,
  plantCanary,
  writeCheckedSettings,
} from './rehearsal-copy.ts';
import type { RehearsalModel } from './rehearsal-model.ts';
import {
  type EndedCommand,
  type IsolatedRelease,
  type ReleaseLog,
  runIsolated,
  type StartedRelease,
  startIsolated,
} from './release-process.ts';
import type { Release } from './unpack-release.ts';

/** What both releases are given, so that their results can be compared. */
export interface RehearsalPlan {
  /** A restored copy of the data, which is copied again for each release. */
  readonly base: string;
  /** The settings of the installation as written, and the file they come from. */
  readonly written: Readonly<Record<string, unknown>>;
  readonly settingsFile: string;
  readonly secrets: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly owners: readonly string[];
  readonly messages: readonly PlayedMessage[];
  readonly model: RehearsalModel;
  readonly canary: string;
  /** The running installation, whose paths occur in prompts. */
  readonly currentRoot: string;
  readonly owner?: IsolatedRelease['owner'];
  readonly limits: RehearsalLimits;
}

export interface RehearsalLimits extends PlayLimits {
  readonly commandMs: number;
  /** Replaying recorded turns and cases takes longer than other commands. */
  readonly replayMs: number;
  readonly startMs: number;
  readonly stopMs: number;
  /** The release runs at least this long (ms), because some failures take a while. */
  readonly runMs: number;
}

/** The commands of a rehearsal by name, in the order in which they run. The first one migrates. */
export const REHEARSED_COMMANDS = {
  conversations: ['conversations', 'list', '--json'],
  letters: ['dead', 'list', '--json'],
  jobs: ['cron', 'list', '--json'],
  usage: ['usage', '--json'],
  settings: ['config', 'check', '--json'],
  doctor: ['doctor', '--json'],
  replay: ['replay', 'last', '200', '--dry-run', '--json'],
  cases: ['eval', '--json'],
} as const;
export type RehearsedCommand = keyof typeof REHEARSED_COMMANDS;

/** Everything that was observed of one release. */
export interface ReleaseRecord {
  readonly version: string;
  readonly commands: Readonly<Record<RehearsedCommand, EndedCommand>>;
  readonly tablesBefore: Readonly<Record<string, TableSize>>;
  readonly tables: Readonly<Record<string, TableSize>>;
  /** Why its data cannot be copied back into the schema of the running version; null if it can. */
  readonly noWayBack: string | null;
  readonly run: ReleaseRun;
  readonly answers: readonly PlayedAnswer[];
  /** The requests to the model for each played message, without times and ids. */
  readonly prompts: ReadonlyMap<number, readonly string[]>;
  /** The messages of other people whose requests contained private text of the owner. */
  readonly leaks: readonly number[];
  /** Whether the owner's own requests contained it, without which `leaks` proves nothing. */
  readonly showsCanary: boolean;
}

export type ReleaseRun =
  | { readonly kind: 'failed'; readonly reason: string }
  | {
      readonly kind: 'ran';
      readonly readyMs: number;
      /** Whether it ended before it was asked to stop. */
      readonly hasDied: boolean;
      readonly memory: { readonly before: number; readonly after: number } | null;
      readonly log: ReleaseLog;
      readonly stop: { readonly code: number | null; readonly tookMs: number };
    };

/**
 * Tries one release on its own copy of the data: runs the commands, starts it between simulators,
 * plays the messages, and stops it.
 */
export async function runRelease(
  release: Release,
  copy: string,
  plan: RehearsalPlan,
): Promise<ReleaseRecord> {
  const { model, messages, canary, limits } = plan;
  const telegram = await startTelegramDouble();
  try {
    const { isolated, checked } = prepareCopy(release, copy, plan, telegram);
    const tablesBefore = measureTables(getDatabase(copy));
    const commands = await runCommands(isolated, checked, limits);
    const tables = measureTables(getDatabase(copy));
    model.reset();
    const { run, answers } = await runBetweenSimulators(isolated, telegram, plan);
    const noWayBack = await tryWayBack(copy);
    const prompts = collectPrompts(plan, release.root, copy);
    const hasCanary = (number: number) =>
      model.requests.some((one) => one.message === number && one.text.includes(canary));
    const others = messages.filter(({ isPrivate }) => !isPrivate);
    return {
      ...{ version: release.version, commands, tablesBefore, tables, run, answers, prompts },
      noWayBack,
      leaks: others.map(({ number }) => number).filter(hasCanary),
      showsCanary: messages.some(({ isPrivate, number }) => isPrivate && hasCanary(number)),
    };
  } finally {
    await telegram.close();
  }
}

/** Tries the copy that a return from the upgrade would make, with everything that was played. */
async function tryWayBack(copy: string): Promise<string | null> {
  try {
    await copyIntoOlderSchema(getDatabase(copy), join(copy, 'older.db'), systemTime.clock);
    return null;
  } catch (error) {
    return reasonOf(error);
  }
}

function getDatabase(copy: string): string {
  return locateDataFolder(copy, {}).storeUrl.slice('sqlite:'.length);
}

function prepareCopy(
  release: Release,
  copy: string,
  plan: RehearsalPlan,
  { token, apiRoot }: TelegramDouble,
): { readonly isolated: IsolatedRelease; readonly checked: CheckedSettings } {
  rmSync(copy, { recursive: true, force: true });
  mkdirSync(copy, { recursive: true, mode: 0o700 });
  cpSync(plan.base, copy, { recursive: true, preserveTimestamps: true });
  const folder = locateDataFolder(copy, {});
  plantCanary(folder, plan.canary);
  const addresses = { telegram: { token, apiRoot }, modelUrl: plan.model.baseUrl };
  const settings = createRehearsalSettings(plan.written, folder.workspace, addresses, plan.owners);
  writeFileSync(folder.settingsFile, JSON.stringify(settings), { mode: 0o600 });
  const checked = writeCheckedSettings(plan.settingsFile, plan, copy);
  giveFolder(copy, plan.owner);
  return { isolated: { release, copy, owner: plan.owner }, checked };
}

async function runCommands(
  isolated: IsolatedRelease,
  checked: CheckedSettings,
  limits: RehearsalLimits,
): Promise<ReleaseRecord['commands']> {
  const ended: [RehearsedCommand, EndedCommand][] = [];
  for (const name of Object.keys(REHEARSED_COMMANDS) as RehearsedCommand[]) {
    const words = REHEARSED_COMMANDS[name];
    const isLong = name === 'replay' || name === 'cases';
    const withinMs = isLong ? limits.replayMs : limits.commandMs;
    ended.push([
      name,
      name === 'settings'
        ? await runIsolated(
            { ...isolated, env: checked.env },
            ['--config', checked.file, ...words],
            withinMs,
          )
        : await runIsolated(isolated, words, withinMs),
    ]);
  }
  return Object.fromEntries(ended) as ReleaseRecord['commands'];
}

async function runBetweenSimulators(
  isolated: IsolatedRelease,
  telegram: TelegramDouble,
  { messages, limits }: RehearsalPlan,
): Promise<Pick<ReleaseRecord, 'run' | 'answers'>> {
  const result = await startIsolated(isolated, limits.startMs);
  if (result.kind === 'failed') return { run: result, answers: [] };
  const { started } = result;
  const startedAt = systemTime.monotonic();
  try {
    const before = await started.memory();
    const answers = await playMessages(telegram, messages, limits, started.hasEnded);
    const isLongEnough = () => systemTime.monotonic() - startedAt >= limits.runMs;
    while (!started.hasEnded() && !isLongEnough()) await sleep(100);
    return { answers, run: await endRun(started, before, limits.stopMs) };
  } finally {
    await started.stop(limits.stopMs);
  }
}

async function endRun(
  started: StartedRelease,
  before: number | null,
  stopMs: number,
): Promise<ReleaseRun> {
  const after = await started.memory();
  const hasDied = started.hasEnded();
  const stop = await started.stop(stopMs);
  return {
    ...{ kind: 'ran', readyMs: started.readyMs, hasDied, stop, log: started.log() },
    memory: before === null || after === null ? null : { before, after },
  };
}

function collectPrompts(
  { model, messages, currentRoot }: RehearsalPlan,
  root: string,
  copy: string,
): ReadonlyMap<number, readonly string[]> {
  // The running installation may contain the new release.
  const roots = [root, currentRoot].map((path) => path.replace(/[/\\]$/, ''));
  const removePaths = (text: string) =>
    roots.reduce((all, path) => all.replaceAll(path, 'RELEASE'), text.replaceAll(copy, 'COPY'));
  const texts = (number: number) =>
    model.requests
      .filter(({ message }) => message === number)
      .map(({ text }) => removeChangingValues(removePaths(text)));
  return new Map(messages.map(({ number }) => [number, texts(number)]));
}

/** Removes what differs between two runs of the same release: times, ids and versions. */
function removeChangingValues(text: string): string {
  return text
    .replaceAll(/\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z?)?/g, 'TIME')
    .replaceAll(/\b\d{1,2}:\d\d(?::\d\d)?\b/g, 'TIME')
    .replaceAll(/\b[a-z]+_[0-9a-z]{20,}\b/g, 'ID')
    .replaceAll(/\bParley \d+\.\d+\.\d+\S*/g, 'Parley VERSION');
}
