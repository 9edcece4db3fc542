import type { Logger } from '@parley/contracts';
import { createLogger } from '@parley/telemetry';
import { readOrMakeToken } from './data-folder.ts';
import type { LoadedSettings } from './read-settings.ts';
import type { StartOptions } from './start-parley.ts';

/** The log, and the secret of the web page, which never appears in it. */
export interface OpenLog {
  readonly log: Logger;
  readonly token: string;
}

/** Opens the log as the settings want it. */
export function openLog(
  { folder, logTo }: Pick<StartOptions, 'folder' | 'logTo'>,
  { settings, secrets }: Pick<LoadedSettings, 'settings' | 'secrets'>,
): OpenLog {
  const token = settings.http.token ?? readOrMakeToken(folder);
  const log = createLogger({
    ...settings.log,
    secrets: [...secrets, token],
    ...(logTo === undefined ? {} : { destination: logTo }),
  });
  return { log, token };
}
