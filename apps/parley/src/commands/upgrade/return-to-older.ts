import { existsSync, linkSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Clock } from '@parley/core';
import { INSTALLATION } from '@parley/core/installation';
import { copyIntoOlderSchema, hasNewerSchema, mergeLog } from '@parley/store/backup';
import type { DataFolder } from '../../data-folder.ts';
import { readUpgradeState, removeUpgradeState } from './upgrade-state.ts';

/**
 * Completes the way back from an upgrade: called by each start, it does something only in the
 * release to which an upgrade returns. The newest data, with everything that was accepted, answered
 * and sent by the newer release, is copied into the schema of this release and then replaces the
 * database in one step. The newer database is kept beside it. Killed at any moment, the next start
 * does it again.
 */
export async function completeReturn(
  folder: DataFolder,
  clock: Clock,
  installation: string = fileURLToPath(INSTALLATION),
): Promise<void> {
  const state = readUpgradeState(folder);
  if (state?.step !== 'returning' || state.from.root !== installation) return;
  const path = folder.storeUrl.slice('sqlite:'.length);
  if (existsSync(path) && hasNewerSchema(path)) await replaceDatabase(folder, path, clock);
  removeUpgradeState(folder);
}

async function replaceDatabase(folder: DataFolder, path: string, clock: Clock): Promise<void> {
  const older = `${path}.older`;
  await copyIntoOlderSchema(path, older, clock);
  const kept = join(folder.path, `newer-${new Date(clock()).toISOString().replaceAll(/\D/g, '')}`);
  mkdirSync(kept, { mode: 0o700 });
  // The log must not remain beside the older database, which it does not belong to.
  mergeLog(path);
  linkSync(path, join(kept, 'parley.db'));
  renameSync(older, path);
  for (const end of ['-wal', '-shm']) rmSync(`${older}${end}`, { force: true });
}
