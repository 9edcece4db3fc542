import type { Logger } from '@parley/contracts';
import { createLogger, type LogLevel } from '@parley/telemetry';
import { liveToken } from './access-token.ts';
import type { LoadedSettings } from './read-settings.ts';
import type { StartOptions } from './start-parley.ts';

/** The log, and the token of the page, which never appears in it. */
export interface OpenLog {
  readonly log: Logger;
  /** The token as it is now. */
  readonly token: () => string;
  /** Says from now on what this level says. */
  readonly useLevel: (level: LogLevel) => void;
}

/** Opens the log as the settings want it. */
export function openLog(
  { folder, logTo }: Pick<StartOptions, 'folder' | 'logTo'>,
  { settings, secrets }: Pick<LoadedSettings, 'settings' | 'secrets'>,
): OpenLog {
  const { token: fixed } = settings.http;
  const token = fixed === undefined ? liveToken(folder) : () => fixed;
  let { level } = settings.log;
  const log = createLogger({
    ...settings.log,
    level: () => level,
    secrets: [...secrets, token()],
    ...(logTo === undefined ? {} : { destination: logTo }),
  });
  const useLevel = (next: LogLevel): void => {
    level = next;
  };
  return { log, token, useLevel };
}
