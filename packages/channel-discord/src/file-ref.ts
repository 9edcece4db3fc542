/** Where a file is, and the message that can tell its address again when the old one has expired. */
export interface FileRef {
  readonly url: string;
  readonly channelId?: string;
  readonly messageId?: string;
  readonly fileId?: string;
}

/** One line for the core to keep: the address, and behind `#` the ids. */
export function writeRef({ url, channelId, messageId, fileId }: FileRef): string {
  return fileId === undefined ? url : `${url}#${channelId}/${messageId}/${fileId}`;
}

/** Undefined when it is none of ours. */
export function readRef(ref: string): FileRef | undefined {
  const [, url, ids] = /^(https?:\/\/[^#\s]+)(?:#(\d+\/\d+\/\d+))?$/.exec(ref) ?? [];
  if (url === undefined) return undefined;
  const [channelId, messageId, fileId] = ids?.split('/') ?? [];
  if (channelId === undefined || messageId === undefined || fileId === undefined) return { url };
  return { url, channelId, messageId, fileId };
}

const HOSTS: ReadonlySet<string> = new Set(['cdn.discordapp.com', 'media.discordapp.net']);

/**
 * Whether an address may be asked: Discord's own file hosts by https, or, in a test, the loopback host
 * that the API is on. Whoever writes a message has no say in where this machine connects to.
 */
export function mayFetch(url: string, apiRoot: string): boolean {
  const address = URL.parse(url);
  if (address === null || address.username !== '' || address.password !== '') return false;
  if (address.protocol === 'https:' && address.port === '' && HOSTS.has(address.hostname))
    return true;
  const api = URL.parse(apiRoot);
  return api !== null && isLoopback(api.hostname) && address.origin === api.origin;
}

/** Whether the signature of an address has run out: `ex` is a time in seconds, in hex. */
export function hasExpired(url: string, now: number): boolean {
  const ex = URL.parse(url)?.searchParams.get('ex') ?? '';
  return /^[\da-f]{1,12}$/.test(ex) && Number.parseInt(ex, 16) * 1000 <= now;
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(host);
}
