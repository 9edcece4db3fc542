import type { ProcessRole } from '@parley/store';
import { CliError } from './data-folder.ts';
import type { LoadedSettings } from './read-settings.ts';

type Settings = LoadedSettings['settings'];
/** What decides: where database and queue are. */
interface Places {
  readonly store: Pick<Settings['store'], 'url'>;
  readonly queue: Pick<Settings['queue'], 'url'>;
}

/** Whether other processes work on the same database, so that what only one may do needs a lease. */
export function isShared({ store }: Pick<Places, 'store'>): boolean {
  return store.url !== undefined;
}

/** Throws CliError `role-needs-servers` where a part of Parley could not meet the others anywhere. */
export function checkRole(role: ProcessRole, { store, queue }: Places): void {
  if (role === 'all') return;
  const missing = [
    ...(store.url === undefined ? ['store.url (PostgreSQL)'] : []),
    ...(queue.url === undefined ? ['queue.url (Redis)'] : []),
  ];
  if (missing.length === 0) return;
  throw new CliError(
    'role-needs-servers',
    `"parley ${role}" works together with other processes and meets them in PostgreSQL and Redis. ` +
      `Set ${missing.join(' and ')} in the settings, or run everything in one process with "parley start".`,
  );
}
