import { readUpTo } from '@parley/channels';
import { ChannelError } from '@parley/core';
import type { Attachment } from 'chat';

/**
 * Downloads a file without the adapter, for platforms whose adapter can neither abort nor limit a
 * download. Returns undefined for a file that the adapter should download.
 */
export type FileDownloader = (
  attachment: Pick<Attachment, 'url' | 'fetchMetadata'>,
  limit: number,
  signal: AbortSignal,
) => Promise<Uint8Array> | undefined;

interface DownloadSource {
  /** The platform's display name. */
  readonly platform: string;
  readonly token: string;
}

/** Downloads at most `limit` bytes. Throws only `ChannelError`, unless there is no connection. */
export async function downloadFile(
  url: string,
  { platform, token }: DownloadSource,
  limit: number,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetch(url, { headers, signal, redirect: 'error' });
  // Slack responds with its sign-in page when the app lacks permission to read files.
  const isPage = response.headers.get('content-type')?.includes('text/html') === true;
  if (!response.ok || isPage || response.body === null) {
    await response.body?.cancel();
    const why = isPage ? 'the app may not read files' : `HTTP ${response.status}`;
    const kind = response.status >= 500 ? 'transient' : 'gone';
    throw new ChannelError({ kind }, `${platform} did not return the file: ${why}.`);
  }
  const bytes = await readUpTo(response.body, limit);
  if (bytes === undefined) throw createTooLargeError(limit);
  return bytes;
}

export function createTooLargeError(limit: number): ChannelError {
  return new ChannelError({ kind: 'refused' }, `The file is larger than ${limit} bytes.`);
}
