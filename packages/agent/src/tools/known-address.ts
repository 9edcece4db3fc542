import type { CallMoment } from './tool.ts';

/** With its scheme, or a name with a dot: each run of signs is looked at once, however long it is. */
const ADDRESS =
  /https?:\/\/[^\s<>"'`\\]+|(?<![\p{L}\p{N}_.-])[\p{L}\p{N}_-]+(?:\.[\p{L}\p{N}_-]+)+(?:[:/?#][^\s<>"'`\\]*)?/giu;
/** Of a search the lines that are an address and nothing else. */
const FOUND = /^ {3}(https?:\/\/\S+)$/gm;
/** Signs that end a sentence rather than an address. */
const TRAILING = /[.,;:!?)\]}*_~|。，；：！？）」』】]+$/u;

/**
 * Whether an address is literally in what people wrote in this turn, or in what a search found. Then
 * the model has added nothing of its own to it. Pages, quoted messages and earlier turns do not count:
 * an address there may have been made for carrying something out.
 */
export function isKnownAddress(
  url: string,
  { said, results }: Pick<CallMoment, 'said' | 'results'>,
): boolean {
  const wanted = keyOf(url);
  if (wanted === null) return false;
  const found = results.filter(({ tool }) => tool === 'web_search');
  const all = [
    ...addressesIn(said),
    ...found.flatMap(({ text }) => [...text.matchAll(FOUND)].map(([, address = '']) => address)),
  ];
  return all.some((address) => keyOf(address) === wanted);
}

/**
 * Whether an address is literally on a page that was read in this turn, and is of a host that people
 * named: the request for a page mostly means those that belong to it.
 */
export function isLinkOfNamedHost(
  url: string,
  { said, results }: Pick<CallMoment, 'said' | 'results'>,
): boolean {
  const wanted = keyOf(url);
  if (wanted === null) return false;
  const host = hostOf(url);
  if (!addressesIn(said).some((address) => hostOf(address) === host)) return false;
  const pages = results.flatMap(({ tool, text }) => (tool === 'web_fetch' ? [text] : []));
  return addressesIn(pages).some((address) => keyOf(address) === wanted);
}

/** The addresses in texts, each as it is and without the signs that end its sentence. */
export function addressesIn(texts: readonly string[]): readonly string[] {
  return texts
    .flatMap((text) => text.match(ADDRESS) ?? [])
    .flatMap((address) => [address, address.replace(TRAILING, '')]);
}

function hostOf(address: string): string | null {
  return urlOf(address)?.host ?? null;
}

function urlOf(address: string): URL | null {
  return URL.parse(/^https?:\/\//i.test(address) ? address : `https://${address}`);
}

/** What is asked of which server; null for what is no address. http and https are one here. */
function keyOf(address: string): string | null {
  const url = urlOf(address);
  if (url === null || url.username !== '' || url.password !== '') return null;
  return `${url.host}${url.pathname}${url.search}`;
}
