import type { Context, MiddlewareHandler } from 'hono';

/** How long (s) a browser may cache a CORS permission. */
const REMEMBERED_SECONDS = 600;
/** The response header that pages of other origins may read. */
const READABLE = 'retry-after';

/**
 * Allows web pages of exactly these origins to call the routes below, with a token and without
 * cookies (CORS). For all other origins, browsers do not send a token and do not reveal a response.
 */
export function allowOrigins(originsOf: () => readonly string[]): MiddlewareHandler {
  return async (c, next) => {
    const origins = originsOf();
    const origin = c.req.header('origin');
    const isAllowed = origin !== undefined && origins.includes(origin);
    if (origin !== undefined && isPreflight(c)) {
      c.header('vary', 'Origin');
      return isAllowed
        ? permitOrigin(c, origin)
        : c.text(`${describeForbiddenOrigin(origin)}\n`, 403);
    }
    await next();
    if (origins.length > 0) c.header('vary', 'Origin', { append: true });
    if (!isAllowed) return;
    c.header('access-control-allow-origin', origin);
    c.header('access-control-expose-headers', READABLE);
  };
}

/** Returns whether the request is a CORS preflight. */
function isPreflight(c: Context): boolean {
  return c.req.method === 'OPTIONS' && c.req.header('access-control-request-method') !== undefined;
}

function permitOrigin(c: Context, origin: string): Response {
  c.header('access-control-allow-origin', origin);
  c.header('access-control-allow-methods', 'GET, POST');
  const asked = c.req.header('access-control-request-headers');
  if (asked !== undefined) c.header('access-control-allow-headers', asked);
  if (c.req.header('access-control-request-private-network') === 'true')
    c.header('access-control-allow-private-network', 'true');
  c.header('access-control-max-age', String(REMEMBERED_SECONDS));
  return c.body(null, 204);
}

function describeForbiddenOrigin(origin: string): string {
  return `Pages from ${origin} may not call this API. The gateway's operator can allow them in the setting api.origins.`;
}
