import type { Role } from '@parley/core';
import { allOperations } from '../operations.ts';

/**
 * Who may do what: the least role of each route of the API that is no operation, and of `/metrics`. A route that is not here, such as the chat of
 * the page and one that is added later, is for owners alone.
 *
 * Operators keep Parley running and see no text, name or chat of a person, but those who wait to be allowed: deciding about
 * strangers and groups is their work. Dead letters, jobs and approvals show texts, settings make owners: none is here.
 */
const LEAST: Readonly<Record<string, Role>> = {
  'GET /api/me': 'viewer',
  // Without the codes that link a phone.
  'GET /api/status': 'viewer',
  'GET /metrics': 'viewer',
};

const PATTERNS = Object.entries(LEAST).map(([route, role]) => {
  const form = route.replaceAll('.', '\\.').replaceAll(/:\w+/g, '[^/]+');
  return { form: new RegExp(`^${form}$`), role };
});

/** The least role for a request; `path` is decoded as the router decodes it. */
export function leastRole(method: string, path: string): Role {
  // The router answers HEAD as GET.
  const asked = `${method === 'HEAD' ? 'GET' : method} ${path}`;
  return PATTERNS.find(({ form }) => form.test(asked))?.role ?? 'owner';
}

/** The least role for reading each path that is not for owners alone. */
export async function readableRoutes(): Promise<Readonly<Record<string, Role>>> {
  const reads = Object.entries(LEAST).filter(([route]) => route.startsWith('GET '));
  const routes = reads.map(([route, role]) => [route.slice('GET '.length), role] as const);
  const operations = (await allOperations()).flatMap(({ name, does, role }) =>
    does === 'read' && role !== undefined ? [[`/api/${name}`, role] as const] : [],
  );
  return Object.fromEntries([...routes, ...operations]);
}
