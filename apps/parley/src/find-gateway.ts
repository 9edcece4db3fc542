import { hostname } from 'node:os';
import { readToken } from './access-token.ts';
import type { DataFolder } from './data-folder.ts';
import { findInstance, type Instance } from './instance-file.ts';
import { checkSettings, type LoadedSettings } from './read-settings.ts';

/** A running gateway, and the secret that opens it. */
export interface FoundGateway extends Instance {
  readonly token: string;
}

/**
 * Finds the gateway of an installation on this machine, or null: the one that runs on the data folder,
 * else one that works on the same database.
 */
export async function findGateway(
  folder: DataFolder,
  env: NodeJS.ProcessEnv,
): Promise<FoundGateway | null> {
  const checked = checkSettings(folder, env);
  const settings = checked.kind === 'ok' ? checked.settings : undefined;
  const instance = findInstance(folder) ?? (await findNeighbour(settings?.store.url));
  if (instance === null) return null;
  // Without a token of its own the folder has never had a gateway; the one found says that it is wrong.
  return { ...instance, token: settings?.http.token ?? readToken(folder) ?? '' };
}

async function findNeighbour(
  url: LoadedSettings['settings']['store']['url'],
): Promise<Instance | null> {
  if (url === undefined) return null;
  // Most installations keep their database in the data folder and never need this.
  const { openStore, PROCESS_GONE_AFTER_MS } = await import('@parley/store');
  const store = await openStore({ url, clock: Date.now });
  try {
    const here = hostname();
    const running = await store.processes.list(Date.now() - PROCESS_GONE_AFTER_MS);
    const gateway = running.find(({ host, role }) => host === here && role !== 'worker');
    if (gateway === undefined) return null;
    const { pid, address } = gateway;
    return { pid, address: address.replace(`//${here}:`, '//127.0.0.1:') };
  } finally {
    await store.close();
  }
}
