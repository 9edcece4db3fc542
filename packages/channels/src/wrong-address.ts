import type { Hono } from 'hono';

/** The answer to a request without a route. */
export interface WrongAddress {
  readonly status: 404 | 405;
  readonly message: string;
  /** For the header `Allow`. */
  readonly allow?: string;
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** A guard or a header for all routes below a path. */
const isMiddleware = (path: string): boolean => path.endsWith('/*');

/**
 * Whether no route takes a request, and what to do instead; null: one does. Ask before the token: a mistake
 * in the address is no guess of a token. `isRoute` names routes that take everything below their path.
 */
export function wrongAddress(
  { router }: Pick<Hono, 'router'>,
  { method, path }: { readonly method: string; readonly path: string },
  isRoute: (path: string) => boolean = () => false,
): WrongAddress | null {
  const isTaken = (one: string, at: string): boolean =>
    router
      .match(one, at)[0]
      .some(([[, route]]) => !isMiddleware(route.path) || isRoute(route.path));
  const methodsAt = (at: string): readonly string[] => METHODS.filter((one) => isTaken(one, at));
  if (isTaken(method === 'HEAD' ? 'GET' : method, path)) return null;
  const methods = methodsAt(path);
  if (methods.length > 0) {
    const allow = methods.join(', ');
    return { status: 405, message: `${path} takes ${allow}, not ${method}.`, allow };
  }
  const trimmed = path.replace(/\/+$/, '');
  const message = `There is nothing at ${path}.`;
  if (trimmed === path || trimmed === '' || methodsAt(trimmed).length === 0)
    return { status: 404, message };
  return { status: 404, message: `${message} Use ${trimmed}, without the slash at its end.` };
}
