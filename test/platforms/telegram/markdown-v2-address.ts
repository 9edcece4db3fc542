import { bytes } from './html-lexer.ts';
import { isEscape, refuse } from './markdown-v2-state.ts';

/**
 * Reads an address that begins behind its `(`; a backslash escapes inside it.
 * @returns the address and the place behind its `)`.
 */
export function readAddress(
  source: string,
  from: number,
  what: 'URL' | 'custom emoji URL',
): { address: string; end: number } {
  let address = '';
  let at = from;
  while (at < source.length && source[at] !== ')') {
    if (isEscape(source, at)) at += 1;
    address += source[at];
    at += 1;
  }
  if (at >= source.length) {
    refuse(`Can't find end of a ${what} at byte offset ${bytes(source, from)}`);
  }
  return { address, end: at + 1 };
}

/** The identifier in `tg://emoji?id=…`. */
export function customEmojiId(address: string): string {
  const [, scheme, rest = ''] = /^([a-z]+):(?:\/\/)?(.*)$/is.exec(address) ?? [];
  if (scheme?.toLowerCase() !== 'tg') refuse('Custom emoji URL must have scheme tg');
  const [, host, query = ''] = /^([^/?#]*)\/?(?:\?([^#]*))?/.exec(rest) ?? [];
  if (host?.toLowerCase() !== 'emoji') refuse('Custom emoji URL must have host "emoji"');
  const id = new URLSearchParams(query).get('id');
  if (id === null) refuse('Custom emoji URL must have an emoji identifier');
  if (!/^[1-9]\d*$/.test(id)) refuse('Invalid custom emoji identifier specified');
  return id;
}
