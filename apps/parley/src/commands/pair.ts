import { pair } from '@parley/gateway';
import { openStore } from '@parley/store';
import type { DataFolder } from '../data-folder.ts';
import { readSettings } from '../read-settings.ts';

/**
 * `parley pair [CODE]`: lets a stranger in, or lists who waits; 1 when nobody waits with that code. It
 * works on the database, so it does not matter whether a gateway runs.
 */
export async function pairCommand(
  folder: DataFolder,
  env: NodeJS.ProcessEnv,
  code: string,
  print: (text: string) => void,
): Promise<number> {
  const { settings } = readSettings(folder, env);
  const store = await openStore({
    url: settings.store.url ?? folder.storeUrl,
    clock: Date.now,
  });
  try {
    const { ok, text } = await pair(store, code, Date.now);
    print(text);
    return ok ? 0 : 1;
  } finally {
    await store.close();
  }
}
