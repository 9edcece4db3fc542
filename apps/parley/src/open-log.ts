import type { Logger } from '@parley/contracts';
import { createLogger, type LogLevel, openSecrets, type Secrets } from '@parley/telemetry';
import { liveToken } from './data-folder.ts';
import type { LoadedSettings } from './read-settings.ts';
import type { StartOptions } from './start-parley.ts';

/** The log, the token of the page, and what keeps that and all secrets out of what leaves the process. */
export interface OpenLog {
  readonly log: Logger;
  /** The token as it is now. */
  readonly token: () => string;
  /** Whoever makes or reads a new secret while Parley runs adds it. */
  readonly secrets: Secrets;
  /** Says from now on what this level says. */
  readonly useLevel: (level: LogLevel) => void;
}

/** Opens the log as the settings want it. */
export function openLog(
  { folder, logTo }: Pick<StartOptions, 'folder' | 'logTo'>,
  { settings, secrets: known }: Pick<LoadedSettings, 'settings' | 'secrets'>,
): OpenLog {
  const secrets = openSecrets(known);
  const { token: fixed } = settings.http;
  const token = addedTo(secrets, fixed === undefined ? liveToken(folder) : () => fixed);
  let { level } = settings.log;
  const log = createLogger({
    ...settings.log,
    level: () => level,
    scrub: secrets.scrubLog,
    ...(logTo === undefined ? {} : { destination: logTo }),
  });
  const useLevel = (next: LogLevel): void => {
    level = next;
  };
  return { log, token, secrets, useLevel };
}

/** Each token that was ever in use is a secret from then on. */
function addedTo(secrets: Secrets, token: () => string): () => string {
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
