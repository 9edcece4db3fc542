import type { KeptFile } from '@parley/store';

/** First bytes of the pictures that browsers show, and that cannot hold a script. */
const PICTURES: readonly (readonly [type: string, start: RegExp])[] = [
  ['image/png', /^\x89PNG\r\n\x1a\n/],
  ['image/jpeg', /^\xff\xd8\xff/],
  ['image/gif', /^GIF8[79]a/],
  ['image/webp', /^RIFF[\s\S]{4}WEBP/],
];

/**
 * A file that a person sent, as a download. What its sender says of its type is not believed: only a picture by its
 * own bytes is named as one, and nothing of it can run in the page.
 */
export function fileResponse({ bytes, name }: KeptFile): Response {
  const start = Buffer.from(bytes.subarray(0, 16)).toString('latin1');
  const picture = PICTURES.find(([, begins]) => begins.test(start))?.[0];
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
