const SCHEMES = ['http:', 'https:', 'discord:', 'tel:', 'sms:', 'mailto:'];

/**
 * The address as the client opens it, or undefined if it makes no link of it: hidden characters,
 * no host, a host that is not written plainly, another scheme.
 */
export function readableUrl(url: string): string | undefined {
  if (/[\p{Cf}\p{Z}\p{Cc}]/u.test(url) || !URL.canParse(url)) return undefined;
  const { protocol, hostname } = new URL(url);
  if (!SCHEMES.includes(protocol)) return undefined;
  if (protocol !== 'http:' && protocol !== 'https:') return url;
  const [, empty, host = ''] = url.split('/');
  return empty === '' && hostname !== '' && !host.includes('%') ? url : undefined;
}
