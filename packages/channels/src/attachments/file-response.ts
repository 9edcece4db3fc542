import type { Attachment } from '@parley/core';
import type { MessageFile } from '@parley/store';

/**
 * The first bytes, in hexadecimal, of image formats that browsers show and that cannot contain a
 * script.
 */
const PICTURES: readonly (readonly [type: string, start: string])[] = [
  ['image/png', '89504e470d0a1a0a'],
  ['image/jpeg', 'ffd8ff'],
  ['image/gif', '47494638'],
  ['image/webp', '52494646'],
];

/** RIFF contains many formats; the name of the format follows the size field. In hexadecimal. */
const WEBP = '57454250';
const WEBP_AT = 16;

/**
 * Serves a file that a person sent, as a download. The type claimed by the sender is not trusted: a
 * file is served as an image only if its first bytes match an image format, and scripts in it
 * cannot run in the page.
 */
export function toFileResponse({ bytes, name }: MessageFile): Response {
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

/** Image types that models read and browsers show; all others are ordinary files. */
const PICTURE = /^image\/(?:png|jpeg|gif|webp)$/;

/** The kind of a file that was uploaded over HTTP. */
export function toAttachmentKind({ type }: Pick<File, 'type'>): Attachment['kind'] {
  if (PICTURE.test(type)) return 'image';
  return type.startsWith('audio/') ? 'audio' : type.startsWith('video/') ? 'video' : 'document';
}
