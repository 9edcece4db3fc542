import { openAsBlob } from 'node:fs';
import { stat } from 'node:fs/promises';
import { type FilesCapability, readWithLimit } from '@parley/channels';
import {
  ChannelError,
  type ChannelFailure,
  getOutboundFilePath,
  type OutboundFile,
  reasonOf,
} from '@parley/core';
import { z } from 'zod';
import type { TelegramApi } from './api.ts';
import { toCallFailure, toRetryableError } from './failures.ts';
import { type LocalFile, openLocalFile, parseLocalFile } from './local-files.ts';
import type { TelegramSettings } from './settings.ts';

const MB = 1024 * 1024;

/** The largest files that can be downloaded from and uploaded to a server, in bytes. */
export interface FileLimits {
  readonly download: number;
  readonly upload: number;
}

/**
 * The limits of Telegram's own servers, or of a self-hosted server in local mode. A local server
 * accepts uploads of 2,000 MB too, but each file is one row of the outbox and must reach Telegram
 * within the time limit of a message part.
 */
export function getFileLimits({ localServer }: Pick<TelegramSettings, 'localServer'>): FileLimits {
  return localServer
    ? { download: 2_000 * MB, upload: 200 * MB }
    : { download: 20 * MB, upload: 50 * MB };
}

const FILE = 'A Telegram file cannot be fetched';
const FileAnswer = z.object({ file_path: z.string().min(1) });

interface FilesDeps {
  readonly api: Pick<TelegramApi, 'call'>;
  readonly settings: Pick<TelegramSettings, 'apiRoot' | 'token' | 'localServer' | 'localFiles'>;
}

/** Downloads files by id. The file size reported by Telegram is not trusted. */
export function createFiles(deps: FilesDeps): FilesCapability {
  const { localServer, localFiles, token, apiRoot } = deps.settings;
  const { download: maxBytes } = getFileLimits(deps.settings);
  return {
    maxBytes,
    async fetch(fileId, limit, signal) {
      const path = await getFilePath(deps, fileId, maxBytes, signal);
      const place = localServer ? parseLocalFile(token, path) : undefined;
      if (place !== undefined && localFiles !== undefined)
        return readLocalFile(localFiles, place, limit, signal);
      const address = buildFileUrl(apiRoot, token, place?.steps.join('/') ?? path);
      if (address !== undefined) return downloadTelegramFile(address, limit, signal);
      throw createFileError({ kind: 'refused' }, 'the server returned no path to download from');
    },
  };
}

async function downloadTelegramFile(
  address: URL,
  limit: number,
  signal: AbortSignal,
): Promise<Uint8Array> {
  // A redirect would lead to a host that the settings do not name.
  const response = await fetch(address, { signal, redirect: 'error' }).catch(throwInterrupted);
  const announced = Number(response.headers.get('content-length') ?? 0);
  if (response.status === 200 && response.body !== null && announced <= limit) {
    const bytes = await readWithLimit(response.body, limit).catch(throwInterrupted);
    if (bytes === undefined) throw createFileTooLargeError(limit);
    return bytes;
  }
  await response.body?.cancel();
  if (announced > limit) throw createFileTooLargeError(limit);
  throw createFileError(toDownloadFailure(response.status), `HTTP ${response.status}`);
}

async function readLocalFile(
  directory: string,
  place: LocalFile,
  limit: number,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const handle = await openLocalFile(directory, place).catch((error: unknown) => {
    throw createFileError({ kind: 'refused' }, reasonOf(error), error);
  });
  try {
    const bytes = await readWithLimit(handle.createReadStream({ signal }), limit).catch(
      throwInterrupted,
    );
    if (bytes === undefined) throw createFileTooLargeError(limit);
    return bytes;
  } finally {
    await handle.close();
  }
}

/**
 * A server in local mode responds only after it has downloaded the whole file, so this call has no
 * timeout, only the signal.
 */
async function getFilePath(
  { api, settings }: FilesDeps,
  fileId: string,
  maxBytes: number,
  signal: AbortSignal,
): Promise<string> {
  const limitMs = settings.localServer ? null : undefined;
  let answer: unknown;
  try {
    answer = await api.call('getFile', { file_id: fileId }, signal, limitMs);
  } catch (thrown) {
    const failure = toCallFailure(thrown);
    if (/file is too big/i.test(failure.reason)) throw createFileTooLargeError(maxBytes, thrown);
    throw toRetryableError(failure, FILE, thrown);
  }
  const file = FileAnswer.safeParse(answer);
  if (file.success) return file.data.file_path;
  throw createFileError({ kind: 'refused' }, 'the server returned no path to download from');
}

function toDownloadFailure(status: number): ChannelFailure {
  if (status === 429) return { kind: 'rate-limited', retryAfterMs: 5_000, scope: 'account' };
  return status >= 500 || status === 401 ? { kind: 'transient' } : { kind: 'refused' };
}

function throwInterrupted(thrown: unknown): never {
  throw toRetryableError(toCallFailure(thrown), FILE, thrown);
}

function createFileTooLargeError(limit: number, cause?: unknown): ChannelError {
  const megabytes = Math.round((limit / 1024 / 1024) * 10) / 10;
  return createFileError({ kind: 'refused' }, `it is larger than ${megabytes} MB`, cause);
}

function createFileError(failure: ChannelFailure, reason: string, cause?: unknown): ChannelError {
  return new ChannelError(failure, `${FILE}: ${reason}.`, cause);
}

/**
 * The URL of a file, from its path below the server; undefined when the path leaves the bot's
 * files.
 */
export function buildFileUrl(apiRoot: string, token: string, path: string): URL | undefined {
  const steps = path.split('/');
  const strange = steps.some((step) => step === '' || step === '.' || step === '..');
  if (strange || path.includes('\\')) return undefined;
  const root = apiRoot.endsWith('/') ? apiRoot : `${apiRoot}/`;
  return new URL(`file/bot${token}/${steps.map(encodeURIComponent).join('/')}`, root);
}

/**
 * Opens a file before anything is sent, so that a missing or oversized file is known not to have
 * been sent. The content is read from disk while it is being sent. Rejects only with a
 * `ChannelError`.
 */
export async function openUpload(file: OutboundFile, limit: number): Promise<File> {
  const path = getOutboundFilePath(file);
  const unreadable = (error: unknown): never => {
    throw createFileNotSentError(file, `it cannot be read (${reasonOf(error)})`, error);
  };
  const isFile = await stat(path).then((found) => found.isFile(), unreadable);
  if (!isFile) throw createFileNotSentError(file, 'it is not a file');
  const blob = await openAsBlob(path).catch(unreadable);
  if (blob.size === 0) throw createFileNotSentError(file, 'it is empty');
  if (blob.size > limit) throw createFileNotSentError(file, `it is larger than ${limit / MB} MB`);
  return new File([blob], file.name);
}

function createFileNotSentError(
  { name }: OutboundFile,
  reason: string,
  cause?: unknown,
): ChannelError {
  return new ChannelError({ kind: 'refused' }, `${name} cannot be sent: ${reason}.`, cause);
}

/** The method that sends a file, and the field that carries it. */
export interface FileMethod {
  readonly method: string;
  readonly field: string;
  /** The largest file the method accepts, in bytes; absent when the general limit applies. */
  readonly maxBytes?: number;
}

const MAX_PHOTO_BYTES = 10 * MB;

/** This method accepts any file. */
export const DOCUMENT: FileMethod = createFileMethod('Document');
const PHOTO: FileMethod = { ...createFileMethod('Photo'), maxBytes: MAX_PHOTO_BYTES };
const ANIMATION = createFileMethod('Animation');
const AUDIO = createFileMethod('Audio');
const VIDEO = createFileMethod('Video');
const VOICE = createFileMethod('Voice');

/**
 * The file types that Telegram displays natively, by kind. All other files are sent as documents.
 */
const NATIVE: Readonly<Record<OutboundFile['kind'], readonly [RegExp, FileMethod][]>> = {
  image: [
    [/^image\/(?:jpe?g|png|webp)$/, PHOTO],
    [/^image\/gif$/, ANIMATION],
  ],
  voice: [[/^audio\/(?:ogg|opus|mpeg|mp3|mp4|m4a|x-m4a)/, VOICE]],
  audio: [[/^audio\/(?:mpeg|mp3|mp4|m4a|x-m4a)$/, AUDIO]],
  video: [[/^video\/mp4$/, VIDEO]],
  document: [],
};

/** The method with which Telegram best displays a file of this kind and type. */
export function selectFileMethod(
  { kind, mimeType }: Pick<OutboundFile, 'kind' | 'mimeType'>,
  bytes: number,
): FileMethod {
  const type = mimeType.toLowerCase();
  const native = NATIVE[kind].find(([pattern]) => pattern.test(type))?.[1];
  const takes = native?.maxBytes ?? Number.POSITIVE_INFINITY;
  return native !== undefined && bytes <= takes ? native : DOCUMENT;
}

function createFileMethod(name: string): FileMethod {
  return { method: `send${name}`, field: name.toLowerCase() };
}
