import type { IncomingMessage } from 'node:http';
import { pipeline, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { WebError } from '../web-error.ts';
import { unreachable } from './request-once.ts';

/**
 * Reads a response to its end, unpacked, and stops as soon as it is more than `maxBytes`: what it
 * claims of its length is not believed, and a small file can unpack to a very large one.
 */
export async function readBody(
  response: IncomingMessage,
  url: URL,
  maxBytes: number,
  signal: AbortSignal,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of unpacked(response)) {
      const bytes = Buffer.from(chunk);
      size += bytes.length;
      if (size > maxBytes) throw tooLarge(url, maxBytes);
      chunks.push(bytes);
    }
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof WebError ? error : unreachable(url, error);
  } finally {
    response.destroy();
  }
  return Buffer.concat(chunks);
}

function unpacked(response: IncomingMessage): AsyncIterable<Uint8Array> {
  const unpack = unpackerOf(response.headers['content-encoding']);
  // Its errors come out of the end that is read.
  return unpack === null ? response : pipeline(response, unpack, () => {});
}

function unpackerOf(encoding: string | undefined): Transform | null {
  switch (encoding?.trim().toLowerCase()) {
    case 'gzip':
    case 'x-gzip':
      return createGunzip();
    case 'br':
      return createBrotliDecompress();
    case 'deflate':
      return createInflate();
    case undefined:
    case '':
    case 'identity':
      return null;
    default:
      throw new WebError(
        'web-format',
        `The page is packed in a way that is not known (${encoding?.slice(0, 40)}).`,
      );
  }
}

function tooLarge({ host }: URL, maxBytes: number): WebError {
  const megabytes = Number((maxBytes / 1_000_000).toFixed(1));
  return new WebError(
    'web-large',
    `The page of ${host} is not read: it is larger than ${megabytes} MB.`,
  );
}
