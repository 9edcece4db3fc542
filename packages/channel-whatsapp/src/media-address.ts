/** Files lie on many machines of this name, for example `mmg.whatsapp.net`. */
const OWN_HOSTS = '.whatsapp.net';
const LOOPBACK = new Set(['127.0.0.1', 'localhost', '[::1]']);

/**
 * The address of a file, where it is one that may be fetched: whoever sends a message chooses it, so
 * that a bot could be made to ask inside its own network. Only https, and only WhatsApp's own machines;
 * loopback for an account whose `server` is there, which is a test.
 */
export function mediaAddress(address: string, server: string): URL | undefined {
  if (!URL.canParse(address)) return undefined;
  const url = new URL(address);
  if (url.protocol !== 'https:' || url.username !== '' || url.password !== '') return undefined;
  if (LOOPBACK.has(url.hostname)) return isLoopback(server) ? url : undefined;
  const isOwn = url.hostname.endsWith(OWN_HOSTS) && url.port === '';
  return isOwn ? url : undefined;
}

/** Whether the host of an address is this machine. */
export function isLoopback(address: string): boolean {
  return URL.canParse(address) && LOOPBACK.has(new URL(address).hostname);
}
