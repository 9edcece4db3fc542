import { type FileHandle, open } from 'node:fs/promises';
import { ChannelError, type OutboundFile, reasonOf } from '@parley/contracts';
import { MAX_UPLOAD_BYTES } from './file-method.ts';

/** A file that is open to be sent. */
export interface Upload {
  readonly bytes: number;
  /** A fresh stream from the beginning, as telegraf takes it. `failed` is called when reading fails. */
  media(failed: (reason: unknown) => void): object;
  close(): Promise<void>;
}

/**
 * Opens a file before anything is sent, so that one that is missing or too large is known to be
 * unsent. Throws only `ChannelError`.
 */
export async function openUpload(file: OutboundFile): Promise<Upload> {
  const handle = await open(file.path).catch((error: unknown) => {
    throw refused(file, `it cannot be read (${reasonOf(error)})`, error);
  });
  try {
    const stat = await handle.stat();
    if (!stat.isFile()) throw refused(file, 'it is no file');
    if (stat.size === 0) throw refused(file, 'it is empty');
    if (stat.size > MAX_UPLOAD_BYTES) throw refused(file, 'it is larger than 50 MB');
    return uploadOf(handle, stat.size, file);
  } catch (error) {
    await handle.close();
    throw error;
  }
}

function uploadOf(handle: FileHandle, bytes: number, file: OutboundFile): Upload {
  return {
    bytes,
    media(failed) {
      const source = handle.createReadStream({ autoClose: false, start: 0 });
      // Telegraf does not listen for this, and an error nobody listens for ends the process.
      source.on('error', failed);
      return { source, filename: headerSafe(file.name) };
    },
    close: () => handle.close(),
  };
}

/** Telegraf writes names into a header as they are; a quote or line end there would forge another. */
function headerSafe(name: string): string {
  return name.replace(/["\\\p{Cc}\u2028\u2029/]/gu, '_');
}

function refused({ name }: OutboundFile, reason: string, cause?: unknown): ChannelError {
  return new ChannelError({ kind: 'refused' }, `${name} cannot be sent: ${reason}.`, cause);
}
