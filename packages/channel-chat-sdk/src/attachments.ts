import { describeUnreadContent, type FilesCapability, readWithLimit } from '@parley/channels';
import { ChannelError, type InboundMessage } from '@parley/core';
import type { Adapter, Attachment } from 'chat';
import { z } from 'zod';
import { toSendError, withAbortSignal } from './failures.ts';

/** The fields that an adapter needs to fetch an attachment again. */
const Ref = z.object({
  type: z.enum(['image', 'file', 'video', 'audio']),
  name: z.string().optional(),
  mimeType: z.string().optional(),
  url: z.string().optional(),
  fetchMetadata: z.record(z.string(), z.string()).optional(),
});

type InboundAttachment = NonNullable<InboundMessage['attachments']>[number];
const MAX_REF = 4_096;
const MAX_ATTACHMENTS = 32;
/** The size limit, in bytes, for files that adapters load into memory. */
const MAX_BYTES = 25 * 1_024 * 1_024;
/** The time limit (ms) for fetching a file before its message is stored. */
const NOW_WITHIN_MS = 10_000;
const LOCATION = 'application/geo+json';

/** The attachments of a message, including the bytes of files that cannot be fetched later. */
export interface AttachmentsResult {
  readonly attachments: readonly InboundAttachment[];
  /** The bytes of all attachments, in the same order, if the adapter cannot fetch files later. */
  readonly files?: readonly Uint8Array[];
  /** The names of files that cannot be read, shown to the model. */
  readonly unread: readonly string[];
}

/**
 * A file is fetched after the message is stored if the adapter can restore the file's fetch
 * function (`rehydrateAttachment`). Otherwise the file is fetched immediately, because a database
 * cannot store a function.
 */
export async function readAttachments(
  adapter: Adapter,
  all: readonly Attachment[],
): Promise<AttachmentsResult> {
  const canFetchLater = adapter.rehydrateAttachment !== undefined;
  const attachments: InboundAttachment[] = [];
  const files: Uint8Array[] = [];
  const unread: string[] = [];
  // A location is already part of the message text.
  for (const attachment of all.filter(({ mimeType }) => mimeType !== LOCATION)) {
    const ref = JSON.stringify(Ref.parse(attachment));
    const isReachable = adapter.rehydrateAttachment?.(attachment).fetchData !== undefined;
    const bytes = canFetchLater ? undefined : await readBytesWithinLimits(attachment);
    const isThere = canFetchLater ? isReachable && ref.length <= MAX_REF : bytes !== undefined;
    if (!isThere || attachments.length === MAX_ATTACHMENTS) {
      unread.push(attachment.name ?? attachment.type);
      continue;
    }
    attachments.push(toInboundAttachment(attachment, canFetchLater ? ref : attachment.type));
    if (bytes !== undefined) files.push(bytes);
  }
  return { attachments, ...(files.length > 0 && { files }), unread };
}

/** The note that names the unreadable files of a message. */
export function describeUnreadFiles(
  names: readonly string[],
  type: InboundMessage['chat']['type'],
): string {
  return names.map((name) => describeUnreadContent(`the file ${name}`, type)).join('\n');
}

function toInboundAttachment(
  { type, name, mimeType, size }: Attachment,
  ref: string,
): InboundAttachment {
  const isVoice = type === 'audio' && (name === 'voice' || /^audio_message/.test(name ?? ''));
  const kind = type === 'file' ? 'document' : isVoice ? 'voice' : type;
  return {
    kind: name === 'sticker' && type === 'image' ? 'sticker' : kind,
    ...(name !== undefined && { name }),
    ...(mimeType !== undefined && { mimeType }),
    ...(size !== undefined && Number.isInteger(size) && { size }),
    ref,
  };
}

async function readBytesWithinLimits(attachment: Attachment): Promise<Uint8Array | undefined> {
  try {
    const bytes = await withAbortSignal(readBytes(attachment), AbortSignal.timeout(NOW_WITHIN_MS));
    return (bytes?.length ?? 0) > MAX_BYTES ? undefined : bytes;
  } catch {
    return undefined;
  }
}

async function readBytes({ data, fetchData }: Attachment): Promise<Uint8Array | undefined> {
  const content = data ?? (await fetchData?.());
  if (content === undefined) return undefined;
  return new Uint8Array(content instanceof Blob ? await content.arrayBuffer() : content);
}

/** Fetches files by their reference, which stays valid after a restart. */
export function createFilesCapability(
  adapter: Adapter,
  download: FileDownloader = () => undefined,
): FilesCapability {
  return {
    maxBytes: MAX_BYTES,
    async fetch(ref, limit, signal) {
      const attachment = toAdapterAttachment(Ref.parse(JSON.parse(ref)));
      try {
        const own = download(attachment, limit, signal);
        const bytes = (await own) ?? (await readBytes(rehydrateAttachment(adapter, attachment)));
        if (bytes === undefined) {
          throw new ChannelError({ kind: 'gone' }, 'The file can no longer be fetched.');
        }
        if (bytes.length > limit) throw createTooLargeError(limit);
        return bytes;
      } catch (thrown) {
        throw thrown instanceof ChannelError ? thrown : toSendError(thrown, 'The file');
      }
    },
  };
}

function rehydrateAttachment(adapter: Adapter, attachment: Attachment): Attachment {
  return adapter.rehydrateAttachment?.(attachment) ?? attachment;
}

function toAdapterAttachment({
  type,
  name,
  mimeType,
  url,
  fetchMetadata,
}: z.infer<typeof Ref>): Attachment {
  return {
    type,
    ...(name !== undefined && { name }),
    ...(mimeType !== undefined && { mimeType }),
    ...(url !== undefined && { url }),
    ...(fetchMetadata !== undefined && { fetchMetadata }),
  };
}

/**
 * Downloads a file without the adapter, for platforms whose adapter cannot abort or limit a
 * download. Returns undefined for a file that the adapter should download.
 */
export type FileDownloader = (
  attachment: Pick<Attachment, 'url' | 'fetchMetadata'>,
  limit: number,
  signal: AbortSignal,
) => Promise<Uint8Array> | undefined;

interface DownloadSource {
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
  // If the app lacks permission to read files, Slack responds with its sign-in page.
  const isPage = response.headers.get('content-type')?.includes('text/html') === true;
  if (!response.ok || isPage || response.body === null) {
    await response.body?.cancel();
    const why = isPage ? 'the app may not read files' : `HTTP ${response.status}`;
    const kind = response.status >= 500 ? 'transient' : 'gone';
    throw new ChannelError({ kind }, `${platform} did not return the file: ${why}.`);
  }
  const bytes = await readWithLimit(response.body, limit);
  if (bytes === undefined) throw createTooLargeError(limit);
  return bytes;
}

export function createTooLargeError(limit: number): ChannelError {
  return new ChannelError({ kind: 'refused' }, `The file is larger than ${limit} bytes.`);
}
