import type { FilesFacet } from '@parley/channels';
import { ChannelError, type Clock, reasonOf } from '@parley/contracts';
import { callFailureOf } from './call-failure.ts';
import type { DiscordApi } from './discord-api.ts';
import { type FileRef, hasExpired, mayFetch, readRef } from './file-ref.ts';
import { sendErrorOf } from './send-failure.ts';

/** What fetching files needs. */
export interface FilesDeps {
  readonly api: Pick<DiscordApi, 'message'>;
  readonly apiRoot: string;
  readonly clock: Clock;
}

/** The largest file anybody can send on Discord. */
const LARGEST_BYTES = 500 * 1024 * 1024;

/** Fetches what people sent, from Discord's own hosts alone; expired addresses are asked for anew. */
export function createFiles(deps: FilesDeps): FilesFacet {
  return {
    maxBytes: LARGEST_BYTES,
    async fetch(ref, limit, signal) {
      const file = readRef(ref);
      if (file === undefined) throw refused('its reference is not one of Discord');
      const isOld = hasExpired(file.url, deps.clock());
      const first = isOld ? undefined : await download(deps, file.url, limit, signal);
      if (first !== undefined) return first;
      const second = await download(deps, await freshUrl(deps, file, signal), limit, signal);
      if (second !== undefined) return second;
      throw new ChannelError({ kind: 'gone' }, 'The file is not on Discord any more.');
    },
  };
}

/** The message tells a new address, if it is still there. */
async function freshUrl(
  { api }: FilesDeps,
  { channelId, messageId, fileId }: FileRef,
  signal: AbortSignal,
): Promise<string> {
  const gone = new ChannelError({ kind: 'gone' }, 'The file is not on Discord any more.');
  if (channelId === undefined || messageId === undefined) throw gone;
  try {
    const { attachments, message_snapshots } = await api.message(channelId, messageId, signal);
    const forwarded = message_snapshots?.flatMap(({ message }) => message.attachments) ?? [];
    const found = [...attachments, ...forwarded].find(({ id }) => id === fileId);
    if (found !== undefined) return found.url;
  } catch (thrown) {
    const failure = callFailureOf(thrown);
    if (failure.kind !== 'refused') throw sendErrorOf(failure, channelId, thrown);
  }
  throw gone;
}

/** Undefined when there is nothing at the address (any more). */
async function download(
  { apiRoot }: FilesDeps,
  url: string,
  limit: number,
  signal: AbortSignal,
): Promise<Uint8Array | undefined> {
  if (!mayFetch(url, apiRoot)) throw refused('its address is not one of Discord');
  try {
    const response = await fetch(url, { signal, redirect: 'error' });
    const { status, body } = response;
    if (status === 403 || status === 404) {
      await body?.cancel();
      return undefined;
    }
    const length = Number(response.headers.get('content-length') ?? 0);
    if (!response.ok || body === null || length > limit) {
      await body?.cancel();
      if (length > limit) throw tooLarge(limit);
      throw new Error(`HTTP ${status}`);
    }
    return await readUpTo(body, limit);
  } catch (thrown) {
    if (thrown instanceof ChannelError) throw thrown;
    const words = `The file cannot be fetched from Discord (${reasonOf(thrown)}); try again.`;
    throw new ChannelError({ kind: 'transient' }, words, thrown);
  }
}

/** Leaving the loop early closes the connection. */
async function readUpTo(body: AsyncIterable<Uint8Array>, limit: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > limit) throw tooLarge(limit);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function tooLarge(limit: number): ChannelError {
  return refused(`it is larger than ${limit} bytes`);
}

function refused(why: string): ChannelError {
  return new ChannelError({ kind: 'refused' }, `The file is not fetched: ${why}.`);
}
