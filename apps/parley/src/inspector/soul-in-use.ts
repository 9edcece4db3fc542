import { existsSync } from 'node:fs';
import { openStore } from '@parley/store';
import { type GovernedFile, SOUL } from '@parley/workspace';
import type { DataFolder } from '../data-folder.ts';
import type { LoadedSettings } from '../read-settings.ts';

/**
 * SOUL.md as the next turn is told it (W06): the version in use, which the file may differ from. Before
 * the first start there is none, and the file counts.
 */
export async function soulInUse(
  folder: DataFolder,
  { agent, store: { url } }: Pick<LoadedSettings['settings'], 'agent' | 'store'>,
): Promise<GovernedFile> {
  const none: GovernedFile = { name: SOUL, current: async () => null };
  if (url === undefined && !existsSync(folder.storeUrl.replace(/^sqlite:/, ''))) return none;
  const store = await openStore({ url: url ?? folder.storeUrl, clock: Date.now });
  try {
    const applied = await store.souls.applied(agent.id);
    return { name: SOUL, current: async () => applied };
  } finally {
    await store.close();
  }
}
