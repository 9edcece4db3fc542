import { hash } from 'node:crypto';

const PLAIN_NAME = /^[\w.@+-]{1,64}$/;
const LIKE_HASH = /^[0-9a-f]{40}$/;

/**
 * Turns a name that a client chose into a part of an id, without separators. A name that looks like
 * a hash is hashed too; otherwise it would collide with the name that has this hash.
 */
export function toIdPart(name: string): string {
  if (PLAIN_NAME.test(name) && !LIKE_HASH.test(name)) return name;
  return hash('sha256', encodeIdName(name), 'hex').slice(0, 40);
}

/**
 * UTF-8 encodes all lone surrogates alike, so names with lone surrogates are encoded as UTF-16
 * after a byte that never starts a UTF-8 text.
 */
function encodeIdName(name: string): Buffer {
  if (name.isWellFormed()) return Buffer.from(name, 'utf8');
  return Buffer.concat([Buffer.of(0xff), Buffer.from(name, 'utf16le')]);
}
