import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { ChannelDefinition } from '@parley/channels';
import { type Logger, reasonOf } from '@parley/core';
import type { LogLevel, Secrets } from '@parley/core/telemetry';
import type { SettingsState } from '@parley/gateway/api';
import { describeProblem } from '@parley/settings';
import { type DataFolder, printOf } from './data-folder.ts';
import { checkSettings, type LoadedSettings } from './settings.ts';

type Settings = LoadedSettings['settings'];

/**
 * The sections that a process keeps as it was started: where it is found, what it is built on, and the code it has
 * loaded.
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
  /** `POLL_INTERVAL_MS` when absent. */
  readonly everyMs?: number;
}

/**
 * Looks whether the settings file, a profile or a file behind `${file:…}` has changed (D12). A good one is used at once, but for what counts from a start,
 * which is named; a broken one is reported as at a start, and nothing changes. Looking at the time of the files
 * works wherever they lie, also below a mount.
 */
export class SettingsWatch {
  readonly #deps: SettingsWatchDeps;
  /** The settings in use. */
  #loaded: LoadedSettings;
  #state: SettingsState = { afterRestart: [], problems: [] };
  /** Files that hold values of the settings. */
  #files: readonly string[];
  #timer: NodeJS.Timeout | undefined;
  #taken: string;
  #seen: string;
  #looking: Promise<void> | undefined;

  /** The file counts as read with `loaded`. */
  constructor(deps: SettingsWatchDeps) {
    this.#deps = deps;
    this.#loaded = deps.loaded;
    this.#files = deps.loaded.files;
    this.#taken = printOfAll(deps.folder, this.#files);
    this.#seen = this.#taken;
  }

  /** The difference of the file from the settings in use. */
  get state(): SettingsState {
    return this.#state;
  }

  /** `apply` uses other settings, or rejects and leaves everything as it was. */
  start(apply: (loaded: LoadedSettings) => Promise<void>): void {
    this.#timer = setInterval(() => {
      const print = printOfAll(this.#deps.folder, this.#files);
      // One that is still being written has another print the next time.
      if (print !== this.#taken && print === this.#seen && this.#looking === undefined) {
        this.#taken = print;
        this.#looking = this.#look(apply).finally(() => {
          this.#looking = undefined;
        });
      }
      this.#seen = print;
    }, this.#deps.everyMs ?? POLL_INTERVAL_MS).unref();
  }

  /** Ends it, and waits for settings that are being taken over. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#looking;
  }

  async #look(apply: (loaded: LoadedSettings) => Promise<void>): Promise<void> {
    const { folder, env, channels, log } = this.#deps;
    try {
      const now = checkSettings(folder, env, channels);
      this.#files = now.files;
      this.#taken = printOfAll(folder, now.files);
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
    logBroken(log, now);
    const next = withStartOf(this.#deps.loaded, now);
    const changed = changedSettings(this.#loaded, next);
    useLevel(next.settings.log.level);
    if (changed.some((name) => name !== 'log.level')) await apply(next);
    this.#loaded = next;
    const afterRestart = changedSettings(next, now);
    this.#state = { afterRestart, problems: [] };
    if (afterRestart.length === 0)
      log.info({ changed }, 'the settings were read again; all of them are in use');
    else
      log.warn(
        { changed, afterRestart },
        'the settings were read again; some count from the next start',
      );
  }
}

/** A fingerprint of the settings, of the profiles beside them, and of files with values. */
function printOfAll({ settingsFile, profiles }: DataFolder, values: readonly string[]): string {
  let names: readonly string[] = [];
  try {
    names = readdirSync(profiles);
  } catch {
    // There are none. A profile that is named and cannot be read is reported with the settings.
  }
  const files = [settingsFile, ...names.map((name) => join(profiles, name)), ...values];
  return files.map((file) => `${file} ${printOf(file)}`).join('\n');
}

const KEPT = 'the settings have changed, but cannot be used; those from before stay';

/** Says what in the settings has no effect, or not the one that was meant. */
export function logWarnings(log: Logger, { warnings }: Pick<LoadedSettings, 'warnings'>): void {
  for (const warning of warnings) log.warn({ problem: describeProblem(warning) }, 'settings');
}

function logBroken(log: Logger, { channels }: LoadedSettings): void {
  const broken = Object.values(channels).flatMap((one) =>
    one.kind === 'broken' ? one.problems : [],
  );
  if (broken.length === 0) return;
  log.error(
    { problems: broken.map(describeProblem) },
    'a channel could not start with these settings',
  );
}

/** Other settings, with what counts from a start as it was at the start. */
function withStartOf(
  { settings: start, agents: agentsAtStart }: LoadedSettings,
  now: LoadedSettings,
): LoadedSettings {
  const kept: Partial<Settings> = Object.fromEntries(
    FROM_THE_START.map((name) => [name, start[name]]),
  );
  const keep = (settings: Settings, { id, workspace }: Settings['agent']): Settings => ({
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

type Compared = Pick<LoadedSettings, 'settings' | 'agents' | 'channels'>;

/** Names of what differs, never values: `log.level`, `model`, `channels.telegram/default`. */
export function changedSettings(before: Compared, now: Compared): readonly string[] {
  const changed = namesThatDiffer(before.settings, now.settings, 2);
  return [
    ...changed,
    ...changedAgents(before, now, new Set(changed)),
    ...namesThatDiffer(before.channels, now.channels, 1).map((name) => `channels.${name}`),
  ];
}

/** Those in which more differs than what they inherit, as their profile. */
function changedAgents(
  before: Compared,
  now: Compared,
  known: ReadonlySet<string>,
): readonly string[] {
  const names = [...new Set([...before.agents.keys(), ...now.agents.keys()])];
  return names.flatMap((name) => {
    const [old, young] = [before.agents.get(name) ?? {}, now.agents.get(name) ?? {}];
    const isMore = namesThatDiffer(old, young, 2).some((one) => !known.has(one));
    return isMore && !known.has(`agents.${name}`) ? [`agents.${name}`] : [];
  });
}

function namesThatDiffer(before: object, now: object, depth: number): readonly string[] {
  const [old, young] = [new Map(Object.entries(before)), new Map(Object.entries(now))];
  return [...new Set([...old.keys(), ...young.keys()])].flatMap((name) => {
    const [a, b]: readonly unknown[] = [old.get(name), young.get(name)];
    if (isDeepStrictEqual(a, b)) return [];
    if (depth < 2 || !isSettingsBlock(a) || !isSettingsBlock(b)) return [name];
    return namesThatDiffer(a, b, depth - 1).map((inner) => `${name}.${inner}`);
  });
}

function isSettingsBlock(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
