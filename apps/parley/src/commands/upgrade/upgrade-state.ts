import {
  chownSync,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { DataFolder } from '../../data-folder.ts';

const Installed = z.object({ root: z.string(), version: z.string() });

/**
 * An upgrade that has begun to switch, so that the next `parley upgrade` and the next start know it
 * after a crash. `switching`: the launcher starts the new release, or is about to. `returning`: the
 * old release converts the data when it starts, and then removes this file.
 */
const UpgradeState = z.object({
  step: z.enum(['switching', 'returning']),
  from: Installed,
  to: Installed,
  /** The installation whose launcher chooses between the two. */
  launcherRoot: z.string(),
  /** False if the operator accepted that there is no way back. */
  canReturn: z.boolean(),
  /** A backup from the moment of the switch. */
  backup: z.string(),
  /** The average latency (ms) of turns before the switch; null if there were none. */
  turnMs: z.number().nullable(),
  /** Messages per minute that arrived before the switch. */
  messagesPerMinute: z.number(),
});
export type UpgradeState = z.infer<typeof UpgradeState>;

function getStateFile({ path }: Pick<DataFolder, 'path'>): string {
  return join(path, 'upgrade.json');
}

/** Reads the state of an unfinished upgrade; null if there is none. */
export function readUpgradeState(folder: Pick<DataFolder, 'path'>): UpgradeState | null {
  const file = getStateFile(folder);
  if (!existsSync(file)) return null;
  try {
    return UpgradeState.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    // It is written atomically, so another version of Parley has written it.
    return null;
  }
}

export function writeUpgradeState(folder: Pick<DataFolder, 'path'>, state: UpgradeState): void {
  const part = `${getStateFile(folder)}.${process.pid}`;
  writeFileSync(part, JSON.stringify(state), { mode: 0o600, flush: true });
  giveToOwner(part, folder);
  renameSync(part, getStateFile(folder));
}

export function removeUpgradeState(folder: Pick<DataFolder, 'path'>): void {
  rmSync(getStateFile(folder), { force: true });
}

/** Files that root creates in the data folder belong to the user of the service. */
export function giveToOwner(file: string, { path }: Pick<DataFolder, 'path'>): void {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = statSync(path);
  chownSync(file, uid, gid);
}
