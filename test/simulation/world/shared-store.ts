import { openStore as openFile } from '../../../packages/store/src/open-store.ts';
import { SERVER_NOW } from '../engine/databases.ts';
import { getSharedServers } from './servers-now.ts';

export * from '../../../packages/store/src/open-store.ts';

/**
 * Opens the file that represents PostgreSQL, whose clock governs all leases; any other address is
 * opened normally.
 */
export const openStore: typeof openFile = (options) => {
  if (options.url.startsWith('sqlite:')) return openFile(options);
  const url = `sqlite:${getSharedServers().database}`;
  return openFile({ ...options, url, sharedClock: () => SERVER_NOW });
};
