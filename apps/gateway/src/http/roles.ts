import type { Role } from '@parley/core';
import { allOperations } from '../operations.ts';

/**
 * The least role for reading each path that is not for owners alone. Operators keep Parley running and see no text,
 * name or chat of a person, but those who wait to be allowed, since deciding about strangers and groups is their work.
 */
export async function readableRoutes(): Promise<Readonly<Record<string, Role>>> {
  const operations = (await allOperations()).flatMap(({ name, does, role }) =>
    does === 'read' && role !== undefined ? [[`/api/${name}`, role] as const] : [],
  );
  return Object.fromEntries(operations);
}
