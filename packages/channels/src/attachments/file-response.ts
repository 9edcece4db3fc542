import type { Attachment } from '@parley/core';
import type { KeptFile } from '@parley/store';

/** First bytes, in hexadecimal, of the pictures that browsers show, and that cannot hold a script. */
const PICTURES: readonly (readonly [type: string, start: string])[] = [
  ['image/png', '89504e470d0a1a0a'],
  ['image/jpeg', 'ffd8ff'],
  ['image/gif', '47494638'],
  ['image/webp', '52494646'],
];

/** A RIFF file is of many kinds; its own name follows its size. In hexadecimal digits. */
const WEBP = '57454250';
const WEBP_AT = 16;

/**
 * A file that a person sent, as a download. What its sender says of its type is not believed: only a picture by its
 * own bytes is named as one, and nothing of it can run in the page.
 */
export function fileResponse({ bytes, name }: KeptFile): Response {
  const start = Buffer.from(bytes.subarray(0, 16)).toString('hex');
  const picture = PICTURES.find(
    ([type, begins]) =>
      start.startsWith(begins) && (type !== 'image/webp' || start.startsWith(WEBP, WEBP_AT)),
  )?.[0];
  const kind = picture === undefined ? 'attachment' : 'inline';
  const named = encodeURIComponent((name ?? 'file').toWellFormed()).replaceAll("'", '%27');
  return new Response(new Uint8Array(bytes), {
    headers: {
      'content-type': picture ?? 'application/octet-stream',
      'content-disposition': `${kind}; filename*=UTF-8''${named}`,
      'content-security-policy': "default-src 'none'; sandbox",
      'x-content-type-options': 'nosniff',
      'cache-control': 'private, no-store',
    },
  });
}

/** A picture that models read and browsers show; others are files like any. */
const PICTURE = /^image\/(?:png|jpeg|gif|webp)$/;

/** The kind of a file that came over HTTP. */
export function attachmentKind({ type }: Pick<File, 'type'>): Attachment['kind'] {
  if (PICTURE.test(type)) return 'image';
  return type.startsWith('audio/') ? 'audio' : type.startsWith('video/') ? 'video' : 'document';
}
