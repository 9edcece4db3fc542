import { isIP } from 'node:net';
import { WebError } from '../web-error.ts';

/** A web address that may be asked, if its name leads to a public address. */
export interface CheckedUrl {
  readonly url: URL;
  /** Without brackets and without a dot at its end. */
  readonly host: string;
  /** True for an address in numbers, which is not looked up. */
  readonly isAddress: boolean;
}

/** Names that mean something only inside a network, by their last part or whole. */
const INSIDE =
  /(?:^|\.)(?:localhost|localdomain|local|internal|intranet|private|corp|home|lan|home\.arpa|in-addr\.arpa|ip6\.arpa|onion|test|invalid)$/;

/**
 * Reads a web address. Throws WebError `web-refused` for all but http and https, ports that are not
 * allowed, names and passwords within the address, and names that only mean something inside a
 * network. Hosts in decimal, octal or hex are numbers like any other after `URL` has read them. Pure.
 */
export function checkUrl(text: string, ports: readonly number[], base?: URL): CheckedUrl {
  const url = URL.parse(text, base?.href);
  if (url === null)
    throw refused(
      'This',
      'it is no web address. Write all of it, such as https://example.org/page',
    );
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw refused(url.protocol, 'only http and https are read');
  }
  if (url.username !== '' || url.password !== '') {
    throw refused(url.host, 'it has a name or a password in it');
  }
  const port = url.port === '' ? (url.protocol === 'http:' ? 80 : 443) : Number(url.port);
  if (!ports.includes(port)) {
    throw refused(
      url.host,
      `port ${port} is not among those allowed (web.fetch.ports: ${ports.join(', ')})`,
    );
  }
  const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.+$/, '');
  const isAddress = isIP(host) !== 0;
  // A name without a dot is completed with the search domains of this network.
  if (!isAddress && (INSIDE.test(host) || !host.includes('.'))) {
    throw refused(url.host, 'its name belongs to a private network');
  }
  url.hash = '';
  return { url, host, isAddress };
}

/** The refusal of one address. Only its host is shown: a server chooses the rest where it redirects. */
export function refused(what: string, why: string): WebError {
  return new WebError('web-refused', `${JSON.stringify(what.slice(0, 200))} is not read: ${why}.`);
}
