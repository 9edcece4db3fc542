import { existsSync, readFileSync } from 'node:fs';
import { openSecrets, type Scrub } from '@parley/telemetry';
import type { DataFolder } from './data-folder.ts';
import { checkSettings } from './read-settings.ts';

/** What keeps the secrets of an installation out of what a command prints (G18). */
export function scrubOf(folder: DataFolder, env: NodeJS.ProcessEnv): Scrub {
  const { tokenFile } = folder;
  const token = existsSync(tokenFile) ? [readFileSync(tokenFile, 'utf8').trim()] : [];
  return openSecrets([...token, ...secretsOf(folder, env)]).scrub;
}

/** A file that cannot be read is reported by the command itself. */
function secretsOf(folder: DataFolder, env: NodeJS.ProcessEnv): readonly string[] {
  try {
    return checkSettings(folder, env).secrets;
  } catch {
    return [];
  }
}
