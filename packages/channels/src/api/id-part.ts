import { hash } from 'node:crypto';

const PLAIN_NAME = /^[\w.@+-]{1,64}$/;
const LIKE_HASH = /^[0-9a-f]{40}$/;

/**
 * A name that a client chose, as a part of an id without separators: different names have different parts. A name
 * that looks like a hash is hashed too: left as it is, it would be the part of the name that has this hash.
 */
export function idPart(name: string): string {
  if (PLAIN_NAME.test(name) && !LIKE_HASH.test(name)) return name;
  return hash('sha256', idBytes(name), 'hex').slice(0, 40);
}

/** Halves of characters are all the same in UTF-8; no text in UTF-8 begins with the byte before them here. */
function idBytes(name: string): Buffer {
  if (name.isWellFormed()) return Buffer.from(name, 'utf8');
  return Buffer.concat([Buffer.of(0xff), Buffer.from(name, 'utf16le')]);
}
