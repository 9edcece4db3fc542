const LOCAL_NAMES = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * Why a request is refused whatever it carries, null if it is not (U03): it came by a foreign name, or
 * from a page of another origin. `boundHost` is the address we listen on.
 */
export function refusalOf(
  { host, origin }: Readonly<Record<'host' | 'origin', string | undefined>>,
  boundHost: string,
): string | null {
  // A foreign name that resolves to this machine is how other sites reach loopback servers.
  if (!isOwnName(host, boundHost)) {
    return 'Open this page by its own address; "parley token show" prints it.';
  }
  return isOwnOrigin(origin, host) ? null : 'Requests from other sites are not taken.';
}

/** Pages of other sites name themselves here, as do those of other programs on this machine. */
function isOwnOrigin(origin: string | undefined, host: string | undefined): boolean {
  // Absent from programs and from what a browser opens by itself.
  if (origin === undefined) return true;
  // Behind a proxy that speaks TLS the scheme differs.
  return origin === `http://${host}` || origin === `https://${host}`;
}

function isOwnName(host: string | undefined, boundHost: string): boolean {
  if (host === undefined) return false;
  const name = host.replace(/:\d+$/, '');
  // Somebody who serves beyond this machine chose that on purpose and knows its names.
  const servesBeyond = !LOCAL_NAMES.has(boundHost) && boundHost !== '::1';
  return servesBeyond || LOCAL_NAMES.has(name);
}
