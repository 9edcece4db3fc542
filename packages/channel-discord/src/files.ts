import { type FilesCapability, readWithLimit } from '@parley/channels';
import { ChannelError, type Clock, reasonOf } from '@parley/core';
import type { DiscordApi } from './api.ts';
import { parseComponents } from './components.ts';
import { toCallFailure, toDiscordSendError } from './failures.ts';
import type { WireContent } from './wire-message.ts';

interface FilesDeps {
  readonly api: Pick<DiscordApi, 'message'>;
  readonly apiRoot: string;
  readonly clock: Clock;
}

/** The largest file that Discord allows. */
const LARGEST_BYTES = 500 * 1024 * 1024;

/** Downloads files only from Discord's own hosts. Expired URLs are requested again. */
export function createFiles(deps: FilesDeps): FilesCapability {
  return {
    maxBytes: LARGEST_BYTES,
    async fetch(ref, limit, signal) {
      const file = parseFileRef(ref);
      if (file === undefined)
        throw createFileRefusedError('its reference is not a Discord reference');
      const isOld = isUrlExpired(file.url, deps.clock());
      const first = isOld ? undefined : await downloadDiscordFile(deps, file.url, limit, signal);
      if (first !== undefined) return first;
      const second = await downloadDiscordFile(
        deps,
        await requestFreshUrl(deps, file, signal),
        limit,
        signal,
      );
      if (second !== undefined) return second;
      throw new ChannelError({ kind: 'gone' }, 'The file is no longer on Discord.');
    },
  };
}

/** Requests a new URL from the message, if it still exists. */
async function requestFreshUrl(
  { api }: FilesDeps,
  { channelId, messageId, fileId }: FileRef,
  signal: AbortSignal,
): Promise<string> {
  const gone = new ChannelError({ kind: 'gone' }, 'The file is no longer on Discord.');
  if (channelId === undefined || messageId === undefined) throw gone;
  try {
    const message = await api.message(channelId, messageId, signal);
    const contents = [message, ...message.message_snapshots.map((snapshot) => snapshot.message)];
    const found = contents
      .map((content) => findFileUrl(content, fileId))
      .find((url) => url !== undefined);
    if (found !== undefined) return found;
  } catch (thrown) {
    const failure = toCallFailure(thrown);
    if (failure.kind !== 'refused') throw toDiscordSendError(failure, channelId, thrown);
  }
  throw gone;
}

/** The URL of an attachment, or of a file that occurs only in a component. */
function findFileUrl({ attachments, components }: WireContent, fileId: string | undefined) {
  const { media } = parseComponents(components, (text) => text);
  return (
    attachments.find(({ id }) => id === fileId)?.url ??
    media.find(({ attachment_id }) => attachment_id === fileId)?.url
  );
}

export function buildPictureUrl(apiRoot: string, id: string, avatar: string): string {
  const { hostname, origin } = new URL(apiRoot);
  const root = isLoopbackHost(hostname) ? origin : 'https://cdn.discordapp.com';
  return `${root}/avatars/${id}/${avatar}.png?size=128`;
}

/** Downloads a file; undefined if there is no file at the URL. */
export async function downloadDiscordFile(
  { apiRoot }: Pick<FilesDeps, 'apiRoot'>,
  url: string,
  limit: number,
  signal: AbortSignal,
): Promise<Uint8Array | undefined> {
  if (!canFetchUrl(url, apiRoot))
    throw createFileRefusedError('its address is not on a Discord host');
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
      if (length > limit) throw createFileTooLargeError(limit);
      throw new Error(`HTTP ${status}`);
    }
    const file = await readWithLimit(body, limit);
    if (file === undefined) throw createFileTooLargeError(limit);
    return file;
  } catch (thrown) {
    if (thrown instanceof ChannelError) throw thrown;
    const message = `The file cannot be fetched from Discord (${reasonOf(thrown)}); try again.`;
    throw new ChannelError({ kind: 'transient' }, message, thrown);
  }
}

function createFileTooLargeError(limit: number): ChannelError {
  return createFileRefusedError(`it is larger than ${limit} bytes`);
}

function createFileRefusedError(why: string): ChannelError {
  return new ChannelError({ kind: 'refused' }, `The file was not downloaded: ${why}.`);
}

/**
 * The URL of a file, and the message from which a fresh URL can be requested after this one has
 * expired.
 */
interface FileRef {
  readonly url: string;
  readonly channelId?: string;
  readonly messageId?: string;
  readonly fileId?: string;
}

/** Formats the reference that is stored: the URL, and the ids after `#`. */
export function formatFileRef({ url, channelId, messageId, fileId }: FileRef): string {
  return fileId === undefined ? url : `${url}#${channelId}/${messageId}/${fileId}`;
}

/** Parses a reference; undefined if it was not created by this adapter. */
export function parseFileRef(ref: string): FileRef | undefined {
  const [, url, ids] = /^(https?:\/\/[^#\s]+)(?:#(\d+\/\d+\/\d+))?$/.exec(ref) ?? [];
  if (url === undefined) return undefined;
  const [channelId, messageId, fileId] = ids?.split('/') ?? [];
  if (channelId === undefined || messageId === undefined || fileId === undefined) return { url };
  return { url, channelId, messageId, fileId };
}

/** Download hosts; the last two serve Discord's copies of external pictures. */
const HOSTS: ReadonlySet<string> = new Set([
  'cdn.discordapp.com',
  'media.discordapp.net',
  'images-ext-1.discordapp.net',
  'images-ext-2.discordapp.net',
]);

/**
 * Whether a URL may be requested. Allowed are Discord's own file hosts over https and, in tests,
 * the loopback host of the API. Without this check, the sender of a message could choose which
 * hosts this machine connects to.
 */
export function canFetchUrl(url: string, apiRoot: string): boolean {
  const address = URL.parse(url);
  if (address === null || address.username !== '' || address.password !== '') return false;
  if (address.protocol === 'https:' && address.port === '' && HOSTS.has(address.hostname))
    return true;
  const api = URL.parse(apiRoot);
  return api !== null && isLoopbackHost(api.hostname) && address.origin === api.origin;
}

/** Whether the signature of a URL has expired; `ex` is a time in seconds, in hexadecimal. */
export function isUrlExpired(url: string, now: number): boolean {
  const ex = URL.parse(url)?.searchParams.get('ex') ?? '';
  return /^[\da-f]{1,12}$/.test(ex) && Number.parseInt(ex, 16) * 1000 <= now;
}

function isLoopbackHost(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(host);
}
