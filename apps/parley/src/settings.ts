import { existsSync, readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import type { ChannelDefinition } from '@parley/channels';
import { countOf, type Logger, reasonOf } from '@parley/core';
import type { LogLevel } from '@parley/core/telemetry';
import { openSecrets, type Scrub, type Secrets } from '@parley/core/telemetry/scrubber';
import { CHANNEL_DEFINITIONS } from '@parley/gateway/channel-definitions';
import { ModelSettings } from '@parley/models';
import { describeProblem, loadSettings, type SettingsResult } from '@parley/settings';
import type { ProcessRole, RetentionAges } from '@parley/store';
import { CliError, commandLine, type DataFolder, printOf } from './data-folder.ts';

/** Settings that passed every check but those of single channels. */
export type LoadedSettings = Extract<SettingsResult<ModelSettings>, { kind: 'ok' }>;

/** Channels that need no settings and are always there. */
const ALWAYS = ['web', 'terminal'];

/** Reads and checks the settings with every channel's and the models' own schema (D12). */
export function checkSettings(
  folder: DataFolder,
  env: NodeJS.ProcessEnv,
  channels: readonly ChannelDefinition[] = CHANNEL_DEFINITIONS,
): SettingsResult<ModelSettings> {
  return loadSettings({
    file: folder.settingsFile,
    env,
    dataFolder: folder.path,
    modelSchema: ModelSettings,
    channelSchemas: Object.fromEntries(channels.map(({ id, settings }) => [id, settings])),
    defaultChannels: ALWAYS,
  });
}

/** As `checkSettings`, for those who cannot go on without: throws CliError that lists every problem. */
export function readSettings(
  folder: DataFolder,
  env: NodeJS.ProcessEnv,
  channels: readonly ChannelDefinition[] = CHANNEL_DEFINITIONS,
): LoadedSettings {
  const result = checkSettings(folder, env, channels);
  if (result.kind === 'ok') return result;
  const problems = result.problems.map(describeProblem).join('\n\n');
  throw new CliError(
    'settings-invalid',
    `The settings in ${folder.settingsFile} have ${countOf(result.problems.length, 'problem')}:\n\n${problems}\n\nMend the file and start again; "${commandLine('config check', folder)}" checks it without starting.`,
  );
}

const DAY_MS = 24 * 60 * 60_000;

export function retentionAges({
  retention,
  inspector,
}: Pick<LoadedSettings['settings'], 'retention' | 'inspector'>): RetentionAges {
  const ms = (days: number | 'forever') =>
    days === 'forever' ? Number.POSITIVE_INFINITY : days * DAY_MS;
  return {
    messages: ms(retention.messageDays),
    history: ms(retention.historyDays),
    decisions: ms(retention.decisionDays),
    prompts: ms(inspector.keepDays),
    spend: ms(retention.spendDays),
  };
}

type Settings = LoadedSettings['settings'];
/** What decides: where database and queue are. */
interface Places {
  readonly store: Pick<Settings['store'], 'url'>;
  readonly queue: Pick<Settings['queue'], 'url'>;
}

/** Whether other processes work on the same database, so that what only one may do needs a lease. */
export function isShared({ store }: Pick<Places, 'store'>): boolean {
  return store.url !== undefined;
}

/** Throws CliError `role-needs-servers` where a part of Parley could not meet the others anywhere. */
export function checkRole(role: ProcessRole, { store, queue }: Places): void {
  if (role === 'all') return;
  const missing = [
    ...(store.url === undefined ? ['store.url (PostgreSQL)'] : []),
    ...(queue.url === undefined ? ['queue.url (Redis)'] : []),
  ];
  if (missing.length === 0) return;
  throw new CliError(
    'role-needs-servers',
    `"parley ${role}" works together with other processes and meets them in PostgreSQL and Redis. ` +
      `Set ${missing.join(' and ')} in the settings, or run everything in one process with "parley start".`,
  );
}

/** What can be taken over while Parley runs; everything else counts from the next start. */
const LIVE: ReadonlySet<string> = new Set(['log.level']);
const LOOK_EVERY_MS = 1_500;

export interface SettingsWatch {
  readonly folder: DataFolder;
  readonly env: NodeJS.ProcessEnv;
  readonly channels: readonly ChannelDefinition[];
  readonly log: Logger;
  readonly loaded: LoadedSettings;
  readonly useLevel: (level: LogLevel) => void;
  readonly secrets: Pick<Secrets, 'add'>;
}

/**
 * Looks whether the settings file has changed (D12). A good one is taken over as far as that is possible, and
 * the log names what waits for a restart; a broken one is reported as at a start, and nothing changes. What it
 * returns ends it. Looking at the time of the file works wherever it lies, also below a mount.
 */
export function watchSettings(watch: SettingsWatch): () => void {
  const { settingsFile } = watch.folder;
  const look = (): void => {
    try {
      take(watch, checkSettings(watch.folder, watch.env, watch.channels));
    } catch (error) {
      watch.log.error({ reason: reasonOf(error) }, KEPT);
    }
  };
  let taken = printOf(settingsFile);
  let seen = taken;
  const timer = setInterval(() => {
    const print = printOf(settingsFile);
    // One that is still being written has another print the next time.
    if (print !== taken && print === seen) {
      taken = print;
      look();
    }
    seen = print;
  }, LOOK_EVERY_MS).unref();
  return () => clearInterval(timer);
}

const KEPT = 'the settings have changed, but cannot be used; those from before stay';

function take({ log, loaded, useLevel, secrets }: SettingsWatch, now: SettingsResult): void {
  secrets.add(now.secrets);
  if (now.kind === 'invalid') {
    log.error({ problems: now.problems.map(describeProblem) }, KEPT);
    return;
  }
  for (const warning of now.warnings) log.warn({ problem: describeProblem(warning) }, 'settings');
  const broken = Object.values(now.channels).flatMap((c) =>
    c.kind === 'broken' ? c.problems : [],
  );
  if (broken.length > 0) {
    log.error(
      { problems: broken.map(describeProblem) },
      'a channel could not start with these settings',
    );
  }
  const { level } = now.settings.log;
  useLevel(level);
  const later = changedSettings(loaded, now).filter((name) => !LIVE.has(name));
  if (later.length === 0)
    log.info({ level }, 'the settings were read again; all of them are in use');
  else
    log.warn(
      { level, afterRestart: later },
      'the settings were read again; some count from the next start',
    );
}

type Compared = Pick<LoadedSettings, 'settings' | 'channels'>;
type ComparedNow = Pick<Extract<SettingsResult, { kind: 'ok' }>, 'settings' | 'channels'>;

/** Names of what differs, never values: `log.level`, `model`, `channels.telegram/default`. */
export function changedSettings(before: Compared, now: ComparedNow): readonly string[] {
  return [
    ...namesThatDiffer(before.settings, now.settings, 2),
    ...namesThatDiffer(before.channels, now.channels, 1).map((name) => `channels.${name}`),
  ];
}

function namesThatDiffer(before: object, now: object, depth: number): readonly string[] {
  const [old, young] = [new Map(Object.entries(before)), new Map(Object.entries(now))];
  return [...new Set([...old.keys(), ...young.keys()])].flatMap((name) => {
    const [a, b]: readonly unknown[] = [old.get(name), young.get(name)];
    if (isDeepStrictEqual(a, b)) return [];
    if (depth < 2 || !isBlock(a) || !isBlock(b)) return [name];
    return namesThatDiffer(a, b, depth - 1).map((inner) => `${name}.${inner}`);
  });
}

function isBlock(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What keeps the secrets of an installation out of what a command prints (G18). */
export function scrubOf(folder: DataFolder, env: NodeJS.ProcessEnv): Scrub {
  const token = existsSync(folder.tokenFile) ? [readFileSync(folder.tokenFile, 'utf8').trim()] : [];
  let secrets: readonly string[] = [];
  try {
    ({ secrets } = checkSettings(folder, env));
  } catch {
    // A file that cannot be read is reported by the command itself.
  }
  return openSecrets([...token, ...secrets]).scrub;
}
