import { type FilesCapability, unreadText } from '@parley/channels';
import { ChannelError, type InboundMessage } from '@parley/core';
import type { Adapter, Attachment } from 'chat';
import { z } from 'zod';
import { sendErrorOf } from './failures.ts';

/** The fields of an attachment from which its adapter can fetch it again. */
const Ref = z.object({
  type: z.enum(['image', 'file', 'video', 'audio']),
  name: z.string().optional(),
  mimeType: z.string().optional(),
  url: z.string().optional(),
  fetchMetadata: z.looseObject({ url: z.string().optional() }).catchall(z.string()).optional(),
});

type Inbound = NonNullable<InboundMessage['attachments']>[number];
const MAX_REF = 4_096;
const MAX_ATTACHMENTS = 32;
/** The largest file that adapters load into memory, in bytes. */
const MAX_BYTES = 25 * 1_024 * 1_024;

/** The attachments of a message, the bytes of those that cannot be fetched later, and the rest. */
export interface ReadAttachments {
  readonly attachments: readonly Inbound[];
  /** Present when an adapter cannot fetch files later: all of them, in the same order. */
  readonly files?: readonly Uint8Array[];
  /** What is named to the model because it cannot be read. */
  readonly unread: readonly string[];
}

/**
 * Reads the attachments of a message. Files are fetched after the message is stored, where the
 * adapter can rebuild the way to them (`rehydrateAttachment`); otherwise they are fetched now,
 * because the way is a function that no database can hold.
 */
export async function readAttachments(
  adapter: Adapter,
  all: readonly Attachment[],
): Promise<ReadAttachments> {
  const canFetchLater = adapter.rehydrateAttachment !== undefined;
  const attachments: Inbound[] = [];
  const files: Uint8Array[] = [];
  const unread: string[] = [];
  for (const attachment of all) {
    const ref = JSON.stringify(Ref.parse(attachment));
    const isReachable = attachment.fetchMetadata !== undefined || attachment.url !== undefined;
    const bytes = canFetchLater ? undefined : await bytesOf(attachment).catch(() => undefined);
    const isThere = canFetchLater ? isReachable && ref.length <= MAX_REF : bytes !== undefined;
    if (!isThere || attachments.length === MAX_ATTACHMENTS) {
      unread.push(attachment.name ?? attachment.type);
      continue;
    }
    attachments.push(toInbound(attachment, canFetchLater ? ref : attachment.type));
    if (bytes !== undefined) files.push(bytes);
  }
  return { attachments, ...(files.length > 0 && { files }), unread };
}

/** Names the files of a message that cannot be read. */
export function unreadFiles(
  names: readonly string[],
  type: InboundMessage['chat']['type'],
): string {
  return names.map((name) => unreadText(`the file ${name}`, type)).join('\n');
}

function toInbound({ type, name, mimeType, size }: Attachment, ref: string): Inbound {
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

async function bytesOf({ data, fetchData }: Attachment): Promise<Uint8Array | undefined> {
  const content = data ?? (await fetchData?.());
  if (content === undefined) return undefined;
  return new Uint8Array(content instanceof Blob ? await content.arrayBuffer() : content);
}

/** Downloads a file itself, for platforms whose adapter could neither stop nor limit a download. */
export type Download = (
  url: string,
  limit: number,
  signal: AbortSignal,
) => Promise<Uint8Array> | undefined;

/** Fetches files by their ref, in this process or a later one. */
export function filesOf(adapter: Adapter, download: Download): FilesCapability {
  return {
    maxBytes: MAX_BYTES,
    async fetch(ref, limit, signal) {
      const attachment = Ref.parse(JSON.parse(ref));
      const url = attachment.fetchMetadata?.url ?? attachment.url;
      try {
        const own = url === undefined ? undefined : download(url, limit, signal);
        const bytes = (await own) ?? (await bytesOf(rehydrated(adapter, attachment)));
        if (bytes === undefined) throw gone();
        if (bytes.length > limit) throw tooLarge(limit);
        return bytes;
      } catch (thrown) {
        throw thrown instanceof ChannelError ? thrown : sendErrorOf(thrown, 'The file');
      }
    },
  };
}

function rehydrated(adapter: Adapter, attachment: z.infer<typeof Ref>): Attachment {
  const { name, mimeType, url, fetchMetadata, type } = attachment;
  const known: Attachment = {
    type,
    ...(name !== undefined && { name }),
    ...(mimeType !== undefined && { mimeType }),
    ...(url !== undefined && { url }),
    ...(fetchMetadata !== undefined && { fetchMetadata }),
  };
  return adapter.rehydrateAttachment?.(known) ?? known;
}

const gone = () => new ChannelError({ kind: 'gone' }, 'The file can no longer be fetched.');

function tooLarge(limit: number): ChannelError {
  return new ChannelError({ kind: 'refused' }, `The file is larger than ${limit} bytes.`);
}
