import type { Role } from '@parley/core';
import { listOperations } from '../operations.ts';

/**
 * The lowest role that may read each path not reserved for owners. Operators keep Parley running
 * and see no one's texts, names or chats, except those of people waiting for access, because
 * deciding about strangers and groups is their task.
 */
export async function listReadableRoutes(): Promise<Readonly<Record<string, Role>>> {
  const operations = (await listOperations()).flatMap(({ name, does, role }) =>
    does === 'read' && role !== undefined ? [[`/api/${name}`, role] as const] : [],
  );
  return Object.fromEntries(operations);
}
