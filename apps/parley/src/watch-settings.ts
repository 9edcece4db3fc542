import { isDeepStrictEqual } from 'node:util';
import type { ChannelDefinition } from '@parley/channels';
import { type Logger, reasonOf } from '@parley/contracts';
import { describeProblem, type SettingsResult } from '@parley/settings';
import type { LogLevel, Secrets } from '@parley/telemetry';
import { type DataFolder, printOf } from './data-folder.ts';
import { checkSettings, type LoadedSettings } from './read-settings.ts';

/** What can be taken over while Parley runs; everything else counts from the next start. */
const LIVE: ReadonlySet<string> = new Set(['log.level']);
const LOOK_EVERY_MS = 1_500;

/** What watching needs. */
export interface SettingsWatch {
  readonly folder: DataFolder;
  readonly env: NodeJS.ProcessEnv;
  readonly channels: readonly ChannelDefinition[];
  readonly log: Logger;
  /** The settings that this process runs with. */
  readonly loaded: LoadedSettings;
  readonly useLevel: (level: LogLevel) => void;
  readonly secrets: Pick<Secrets, 'add'>;
}

/**
 * Looks whether the settings file has changed (D12). A good one is taken over as far as that is possible, and
 * the log names what waits for a restart; a broken one is told as at a start, and nothing changes. What it
 * gives back ends it. Looking at the time of the file works wherever it lies, also below a mount.
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
