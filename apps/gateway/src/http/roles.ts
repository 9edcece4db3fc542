import type { Role } from '@parley/core';
import { allOperations } from '../operations.ts';

/**
 * The least role for reading each path that is not reserved for owners. Operators keep Parley
 * running and see no person's text, name or chat, except those of people waiting for access,
 * because deciding about strangers and groups is their work.
 */
export async function readableRoutes(): Promise<Readonly<Record<string, Role>>> {
  const operations = (await allOperations()).flatMap(({ name, does, role }) =>
    does === 'read' && role !== undefined ? [[`/api/${name}`, role] as const] : [],
  );
  return Object.fromEntries(operations);
}
