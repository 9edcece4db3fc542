import type { Role } from '@parley/core';
import { listOperations } from '../operations.ts';

/**
 * Returns the lowest role that may read each path that is not reserved for owners. Operators keep
 * the gateway running without access to message text, names or chats. Of people and groups,
 * operators see only those that are waiting for access, because operators decide about them.
 */
export async function listReadableRoutes(): Promise<Readonly<Record<string, Role>>> {
  const operations = (await listOperations()).flatMap(({ name, does, role }) =>
    does === 'read' && role !== undefined ? [[`/api/${name}`, role] as const] : [],
  );
  return Object.fromEntries(operations);
}
