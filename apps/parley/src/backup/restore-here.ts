import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { reasonOf } from '@parley/contracts';
import type { RestoreWish } from '@parley/gateway';
import { z } from 'zod';
import type { DataFolder } from '../data-folder.ts';
import { Carried, ExchangePlan, exchangeHere } from './exchange-files.ts';

const Outcome = z.object({
  id: z.string(),
  aside: z.string().nullable(),
  carried: Carried.nullable(),
  /** Why nothing was changed; null when all of it was. */
  error: z.string().nullable(),
});
/** What came of an exchange that a running Parley was asked for. */
export type RestoreOutcome = z.infer<typeof Outcome>;

/** Where a plan lies for the process that exchanges: in the folder with what is ready. */
export function planFile(staging: string): string {
  return join(staging, 'plan.json');
}

function outcomeFile(folder: DataFolder): string {
  return join(folder.path, 'restored.json');
}

/**
 * Exchanges the state between two starts of the same process, and leaves word of it for whoever asked. A
 * failure is told there and changes nothing, so that the process goes on with what it had.
 */
export async function restoreHere(
  { id, staging }: RestoreWish,
  folder: DataFolder,
): Promise<RestoreOutcome> {
  const outcome = await attempt(id, join(folder.path, staging), folder);
  leaveWord(folder, outcome);
  return outcome;
}

export function leaveWord(folder: DataFolder, outcome: RestoreOutcome): void {
  writeFileSync(outcomeFile(folder), JSON.stringify(outcome), { mode: 0o600 });
}

async function attempt(id: string, staging: string, folder: DataFolder): Promise<RestoreOutcome> {
  try {
    const plan = ExchangePlan.parse(JSON.parse(readFileSync(planFile(staging), 'utf8')));
    return { id, ...(await exchangeHere(folder, plan)), error: null };
  } catch (error) {
    return { id, aside: null, carried: null, error: reasonOf(error) };
  }
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
