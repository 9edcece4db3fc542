import { hostname } from 'node:os';
import type { ChannelDefinition } from '@parley/channels';
import type { BuiltPage } from '@parley/console';
import type { Checkpoint, Logger, Runtime } from '@parley/core';
import type { LogDestination } from '@parley/core/telemetry';
import {
  createLogger,
  type LogLevel,
  openPersistentLog,
  openSecrets,
  type PersistentLog,
  type Secrets,
} from '@parley/core/telemetry';
import type { AccountStatus } from '@parley/gateway';
import type { ProcessRole } from '@parley/store';
import type { DataFolder } from './data-folder.ts';
import { createTokenGetter } from './data-folder.ts';
import type { LoadedSettings } from './settings.ts';

export interface StartOptions extends Pick<Runtime, 'clock' | 'monotonic' | 'random'> {
  readonly folder: DataFolder;
  readonly env: NodeJS.ProcessEnv;
  /** The settings file to name in messages, if the file in the data folder is a copy of it. */
  readonly settingsToEdit?: string;
  /** The role of this process; by default, it takes on all roles. */
  readonly role?: ProcessRole | undefined;
  /** Overrides `http.port` in the settings. */
  readonly port?: number | undefined;
  /** The destination for log lines; standard error by default. */
  readonly logTo?: LogDestination;
  /** Called at each durable point. Only crash tests pass a function that has an effect. */
  readonly checkpoint: Checkpoint;
  readonly channels?: readonly ChannelDefinition[];
  /** Loads a prebuilt web page; by default the page is built from the running sources. */
  readonly openPage?: () => Promise<BuiltPage>;
  /**
   * Whether a watchdog may kill this process when it hangs. True only in processes that Parley
   * owns.
   */
  readonly endsWhenStill?: boolean;
  /** Called whenever the state of a channel account changes. */
  readonly onState?: (status: AccountStatus) => void;
  /**
   * Called when a newer Parley has changed the shared database. The caller must then close this
   * Parley.
   */
  readonly onOutdated?: ((version: string) => void) | undefined;
  /**
   * Called when this process needs a restart, for example because some settings apply only at
   * startup. The caller performs the restart.
   */
  readonly onRestart?: (() => void) | undefined;
  /**
   * Called when this process must end, for example to restore a backup. The caller must then close
   * this Parley.
   */
  readonly onStop?: (() => void) | undefined;
}

/**
 * The log and the access token, with the scrubber that removes the token and all other secrets from
 * the output of the process.
 */
export interface OpenLog {
  readonly log: Logger;
  readonly token: () => string;
  /** Code that creates or reads a secret while Parley is running must add the secret here. */
  readonly secrets: Secrets;
  readonly useLevel: (level: LogLevel) => void;
}

/**
 * Opens the file that stores this process's log lines for the page; undefined if the settings
 * disable it.
 */
export function openProcessLog(
  { folder, clock, role = 'all' }: Pick<StartOptions, 'folder' | 'clock' | 'role'>,
  { settings }: Pick<LoadedSettings, 'settings'>,
): PersistentLog | undefined {
  const { keepMegabytes } = settings.log;
  if (keepMegabytes === 0) return undefined;
  const name = formatLogName({ role, host: hostname(), pid: process.pid });
  return openPersistentLog({ folder: folder.logs, name, bytes: keepMegabytes * 1e6, now: clock() });
}

/** Returns the base name of a process's log file. */
export function formatLogName(process: {
  readonly role: ProcessRole;
  readonly host: string;
  readonly pid: number;
}): string {
  return `${process.role}-${process.host.replaceAll(/[^\w.-]/g, '_')}-${process.pid}`;
}

export function openLog(
  { folder, logTo }: Pick<StartOptions, 'folder' | 'logTo'>,
  { settings, secrets: known }: Pick<LoadedSettings, 'settings' | 'secrets'>,
  kept?: PersistentLog,
): OpenLog {
  const secrets = openSecrets(known);
  const { token: fixed } = settings.http;
  const token = createTokenRecorder(
    secrets,
    fixed === undefined ? createTokenGetter(folder) : () => fixed,
  );
  let { level } = settings.log;
  const log = createLogger({
    ...settings.log,
    level: () => level,
    scrub: secrets.scrubLog,
    kept,
    ...(logTo === undefined ? {} : { destination: logTo }),
  });
  const useLevel = (next: LogLevel): void => {
    level = next;
  };
  return { log, token, secrets, useLevel };
}

/** Every token used since startup is still treated as a secret. */
function createTokenRecorder(secrets: Secrets, token: () => string): () => string {
  let last = '';
  const current = (): string => {
    const now = token();
    if (now !== last) secrets.add([now]);
    last = now;
    return now;
  };
  current();
  return current;
}
