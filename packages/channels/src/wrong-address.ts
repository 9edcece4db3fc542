import type { Hono } from 'hono';

/** The response to a request without a route. */
export interface UnmatchedRoute {
  readonly status: 404 | 405;
  readonly message: string;
  /** The methods for the `Allow` header. */
  readonly allow?: string;
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** Whether the handler is a guard or header middleware for all routes below a path. */
const isMiddleware = (path: string): boolean => path.endsWith('/*');

/**
 * Returns advice when no route accepts a request; null when one does. Call this before checking the
 * token, because a wrong URL is not an attempt to guess a token. `isRoute` identifies routes that
 * accept every path below their own.
 */
export function findUnmatchedRoute(
  { router }: Pick<Hono, 'router'>,
  { method, path }: { readonly method: string; readonly path: string },
  isRoute: (path: string) => boolean = () => false,
): UnmatchedRoute | null {
  const isTaken = (one: string, at: string): boolean =>
    router
      .match(one, at)[0]
      .some(([[, route]]) => !isMiddleware(route.path) || isRoute(route.path));
  const methodsAt = (at: string): readonly string[] => METHODS.filter((one) => isTaken(one, at));
  if (isTaken(method === 'HEAD' ? 'GET' : method, path)) return null;
  const methods = methodsAt(path);
  if (methods.length > 0) {
    const allow = methods.join(', ');
    return { status: 405, message: `${path} accepts ${allow}, not ${method}.`, allow };
  }
  const trimmed = path.replace(/\/+$/, '');
  const message = `There is nothing at ${path}.`;
  if (trimmed === path || trimmed === '' || methodsAt(trimmed).length === 0)
    return { status: 404, message };
  return { status: 404, message: `${message} Use ${trimmed}, without the slash at its end.` };
}
