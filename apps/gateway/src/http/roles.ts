import type { Role } from '@parley/core';
import { allOperations } from '../operations.ts';

/**
 * The least role of what is no operation. What is not here, such as the chat of the page and what is added later, is for
 * owners alone. An operation declares its role: operators keep Parley running and see no text, name or chat of a person,
 * but those who wait to be allowed, since deciding about strangers and groups is their work.
 */
const LEAST_ROLES = new Map<string, Role>([
  ['GET /api/me', 'viewer'],
  ['GET /metrics', 'viewer'],
]);

/** The least role for a request; `path` is decoded as the router decodes it. */
export function leastRole(method: string, path: string): Role {
  // The router answers HEAD as GET.
  return LEAST_ROLES.get(`${method === 'HEAD' ? 'GET' : method} ${path}`) ?? 'owner';
}

/** The least role for reading each path that is not for owners alone. */
export async function readableRoutes(): Promise<Readonly<Record<string, Role>>> {
  const routes = [...LEAST_ROLES].map(
    ([route, role]) => [route.slice('GET '.length), role] as const,
  );
  const operations = (await allOperations()).flatMap(({ name, does, role }) =>
    does === 'read' && role !== undefined ? [[`/api/${name}`, role] as const] : [],
  );
  return Object.fromEntries([...routes, ...operations]);
}
