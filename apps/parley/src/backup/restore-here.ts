import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { ParleyError } from '@parley/contracts';
import type { RestoreWish } from '@parley/gateway';
import { z } from 'zod';
import type { DataFolder } from '../data-folder.ts';
import { restoreBackup } from './restore-backup.ts';
import { restoreText } from './restore-text.ts';

const Outcome = z.object({ id: z.string(), ok: z.boolean(), text: z.string() });
/** What came of a restore that a running Parley was asked for. */
export type RestoreOutcome = z.infer<typeof Outcome>;

function outcomeFile(folder: DataFolder): string {
  return join(folder.path, 'restored.json');
}

/**
 * Restores between two starts of the same process, and leaves word of it for whoever asked. A failure is
 * told there and changes nothing, so that the process goes on with what it had.
 */
export async function restoreHere(
  { id, ...order }: RestoreWish,
  folder: DataFolder,
  env: NodeJS.ProcessEnv,
): Promise<RestoreOutcome> {
  const outcome = await restoreBackup({ ...order, folder, env, clock: Date.now }).then(
    (done) => ({ id, ok: true, text: restoreText(done, folder) }),
    (reason: unknown) => {
      if (!(reason instanceof ParleyError)) throw reason;
      return { id, ok: false, text: reason.message };
    },
  );
  writeFileSync(outcomeFile(folder), JSON.stringify(outcome), { mode: 0o600 });
  return outcome;
}

const LOOK_EVERY_MS = 200;

/** Waits for that word. Null when nothing came within `withinMs`. */
export async function outcomeOf(
  id: string,
  folder: DataFolder,
  withinMs: number,
): Promise<RestoreOutcome | null> {
  const file = outcomeFile(folder);
  for (let left = withinMs; left > 0; left -= LOOK_EVERY_MS) {
    await wait(LOOK_EVERY_MS);
    if (!existsSync(file)) continue;
    const outcome = parsed(readFileSync(file, 'utf8'));
    if (outcome?.id !== id) continue;
    rmSync(file);
    return outcome;
  }
  return null;
}

/** Undefined while it is being written. */
function parsed(text: string): RestoreOutcome | undefined {
  try {
    return Outcome.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}
