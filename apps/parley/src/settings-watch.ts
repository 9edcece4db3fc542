import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { ChannelDefinition } from '@parley/channels';
import { type Logger, reasonOf } from '@parley/core';
import type { LogLevel, Secrets } from '@parley/core/telemetry';
import type { SettingsState } from '@parley/gateway/api';
import { describeProblem, isBlock } from '@parley/settings';
import { type DataFolder, getFileFingerprint } from './data-folder.ts';
import { checkSettings, type LoadedSettings } from './settings.ts';

type CurrentSettings = LoadedSettings['settings'];

/**
 * Sections that are read only at startup, because they define the process's address, its services
 * and the code it has loaded.
 */
const FROM_THE_START = ['store', 'queue', 'http', 'telemetry', 'plugins', 'media'] as const;
const POLL_INTERVAL_MS = 500;

interface SettingsWatchDeps {
  readonly folder: DataFolder;
  readonly env: NodeJS.ProcessEnv;
  readonly channels: readonly ChannelDefinition[];
  readonly log: Logger;
  readonly loaded: LoadedSettings;
  readonly useLevel: (level: LogLevel) => void;
  readonly secrets: Pick<Secrets, 'add'>;
  /** The polling interval (ms); the default is `POLL_INTERVAL_MS`. */
  readonly everyMs?: number;
}

/**
 * Watches the settings file, its profiles and the files behind `${file:…}` for changes (D12). Valid
 * settings are applied immediately, except for sections that need a restart, which are logged.
 * Invalid settings are reported as at startup, and the previous settings stay in use. Polling the
 * modification time works on all file systems, including mounted folders.
 */
export class SettingsWatch {
  readonly #deps: SettingsWatchDeps;
  /** The settings in use. */
  #loaded: LoadedSettings;
  #state: SettingsState = { afterRestart: [], problems: [] };
  /** Paths of the files that contain values for the settings. */
  #files: readonly string[];
  #timer: NodeJS.Timeout | undefined;
  #taken: string;
  #seen: string;
  #looking: Promise<void> | undefined;

  /** `loaded` must have been read from the current file. */
  constructor(deps: SettingsWatchDeps) {
    this.#deps = deps;
    this.#loaded = deps.loaded;
    this.#files = deps.loaded.files;
    this.#taken = getCombinedFingerprint(deps.folder, this.#files);
    this.#seen = this.#taken;
  }

  /** Returns how the file differs from the settings in use. */
  get state(): SettingsState {
    return this.#state;
  }

  /** `apply` switches to new settings, or rejects and changes nothing. */
  start(apply: (loaded: LoadedSettings) => Promise<void>): void {
    this.#timer = setInterval(() => {
      const print = getCombinedFingerprint(this.#deps.folder, this.#files);
      // A file that is still being written has a different fingerprint at the next check.
      if (print !== this.#taken && print === this.#seen && this.#looking === undefined) {
        this.#taken = print;
        this.#looking = this.#look(apply).finally(() => {
          this.#looking = undefined;
        });
      }
      this.#seen = print;
    }, this.#deps.everyMs ?? POLL_INTERVAL_MS).unref();
  }

  /** Stops watching, and waits until pending settings are applied. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#looking;
  }

  async #look(apply: (loaded: LoadedSettings) => Promise<void>): Promise<void> {
    const { folder, env, channels, log } = this.#deps;
    try {
      const now = checkSettings(folder, env, channels);
      this.#files = now.files;
      this.#taken = getCombinedFingerprint(folder, now.files);
      await this.#take(now, apply);
    } catch (error) {
      this.#state = { ...this.#state, problems: [reasonOf(error)] };
      log.error({ reason: reasonOf(error) }, KEPT);
    }
  }

  async #take(
    now: ReturnType<typeof checkSettings>,
    apply: (loaded: LoadedSettings) => Promise<void>,
  ): Promise<void> {
    const { log, useLevel, secrets } = this.#deps;
    secrets.add(now.secrets);
    if (now.kind === 'invalid') {
      const problems = now.problems.map(describeProblem);
      this.#state = { ...this.#state, problems };
      log.error({ problems }, KEPT);
      return;
    }
    logWarnings(log, now);
    logBrokenAccounts(log, now);
    const next = preserveStartupSections(this.#deps.loaded, now);
    const changed = listChangedSettings(this.#loaded, next);
    useLevel(next.settings.log.level);
    if (changed.some((name) => name !== 'log.level')) await apply(next);
    this.#loaded = next;
    const afterRestart = listChangedSettings(next, now);
    this.#state = { afterRestart, problems: [] };
    if (afterRestart.length === 0)
      log.info({ changed }, 'the settings were read again; all changes are in effect');
    else
      log.warn(
        { changed, afterRestart },
        'the settings were read again; some changes apply only after a restart',
      );
  }
}

/** Returns a fingerprint of the settings file, its profiles, and the files that contain values. */
function getCombinedFingerprint(
  { settingsFile, profiles }: DataFolder,
  values: readonly string[],
): string {
  let names: readonly string[] = [];
  try {
    names = readdirSync(profiles);
  } catch {
    // The folder of profiles does not exist. If the settings name a profile, validation reports the
    // missing file.
  }
  const files = [settingsFile, ...names.map((name) => join(profiles, name)), ...values];
  return files.map((file) => `${file} ${getFileFingerprint(file)}`).join('\n');
}

const KEPT = 'the changed settings cannot be used; the previous ones stay in effect';

/** Logs settings that have no effect, or an unintended effect. */
export function logWarnings(log: Logger, { warnings }: Pick<LoadedSettings, 'warnings'>): void {
  for (const warning of warnings) log.warn({ problem: describeProblem(warning) }, 'settings');
}

function logBrokenAccounts(log: Logger, { channels }: LoadedSettings): void {
  const broken = Object.values(channels).flatMap((one) =>
    one.kind === 'broken' ? one.problems : [],
  );
  if (broken.length === 0) return;
  log.error(
    { problems: broken.map(describeProblem) },
    'a channel could not start with these settings',
  );
}

/** Returns the new settings, but keeps the old values in sections that need a restart. */
function preserveStartupSections(
  { settings: start, agents: agentsAtStart }: LoadedSettings,
  now: LoadedSettings,
): LoadedSettings {
  const kept: Partial<CurrentSettings> = Object.fromEntries(
    FROM_THE_START.map((name) => [name, start[name]]),
  );
  const keep = (
    settings: CurrentSettings,
    { id, workspace }: CurrentSettings['agent'],
  ): CurrentSettings => ({
    ...settings,
    ...kept,
    agent: { ...settings.agent, id, workspace },
    log: { ...start.log, level: settings.log.level },
  });
  const agents = [...now.agents].map(([name, settings]) => {
    return [name, keep(settings, agentsAtStart.get(name)?.agent ?? settings.agent)] as const;
  });
  return { ...now, settings: keep(now.settings, start.agent), agents: new Map(agents) };
}

type ComparedSettings = Pick<LoadedSettings, 'settings' | 'agents' | 'channels'>;

/**
 * Returns the names of the settings that differ, without their values: `log.level`, `model`,
 * `channels.telegram/default`.
 */
export function listChangedSettings(
  before: ComparedSettings,
  now: ComparedSettings,
): readonly string[] {
  const changed = listDifferingNames(before.settings, now.settings, 2);
  return [
    ...changed,
    ...listChangedAgents(before, now, new Set(changed)),
    ...listDifferingNames(before.channels, now.channels, 1).map((name) => `channels.${name}`),
  ];
}

/** Returns the agents that differ in more than inherited settings, for example in their profile. */
function listChangedAgents(
  before: ComparedSettings,
  now: ComparedSettings,
  known: ReadonlySet<string>,
): readonly string[] {
  const names = [...new Set([...before.agents.keys(), ...now.agents.keys()])];
  return names.flatMap((name) => {
    const [old, young] = [before.agents.get(name) ?? {}, now.agents.get(name) ?? {}];
    const isMore = listDifferingNames(old, young, 2).some((one) => !known.has(one));
    return isMore && !known.has(`agents.${name}`) ? [`agents.${name}`] : [];
  });
}

function listDifferingNames(before: object, now: object, depth: number): readonly string[] {
  const [old, young] = [new Map(Object.entries(before)), new Map(Object.entries(now))];
  return [...new Set([...old.keys(), ...young.keys()])].flatMap((name) => {
    const [a, b]: readonly unknown[] = [old.get(name), young.get(name)];
    if (isDeepStrictEqual(a, b)) return [];
    if (depth < 2 || !isBlock(a) || !isBlock(b)) return [name];
    return listDifferingNames(a, b, depth - 1).map((inner) => `${name}.${inner}`);
  });
}
