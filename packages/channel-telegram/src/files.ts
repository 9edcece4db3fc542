import { readUpTo } from '@parley/channels';
import { ChannelError, type ChannelFailure } from '@parley/core';
import { z } from 'zod';
import type { TelegramApi } from './connection.ts';
import { callFailureOf, repeatableErrorOf } from './failures.ts';
import type { TelegramSettings } from './settings.ts';

/** Largest file that the Bot API serves, in bytes. */
export const MAX_DOWNLOAD_BYTES = 20 * 1024 * 1024;

const FILE = 'A Telegram file cannot be fetched';
const FileAnswer = z.object({ file_path: z.string().min(1) });

export interface FetchFileDeps {
  readonly api: Pick<TelegramApi, 'call'>;
  readonly settings: Pick<TelegramSettings, 'apiRoot' | 'token'>;
}

/**
 * The bytes of a file by its id. What Telegram says of its size is not relied on: reading stops as
 * soon as there is more than `limit`. Throws only `ChannelError`.
 */
export async function fetchFile(
  deps: FetchFileDeps,
  fileId: string,
  limit: number,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const address = await addressOf(deps, fileId, signal);
  // A redirect would lead to a host that was not chosen.
  const response = await fetch(address, { signal, redirect: 'error' }).catch(interrupted);
  const announced = Number(response.headers.get('content-length') ?? 0);
  if (response.status === 200 && response.body !== null && announced <= limit) {
    const bytes = await readUpTo(response.body, limit).catch(interrupted);
    if (bytes === undefined) throw tooLarge(limit);
    return bytes;
  }
  await response.body?.cancel();
  if (announced > limit) throw tooLarge(limit);
  throw failed(kindOf(response.status), `HTTP ${response.status}`);
}

async function addressOf(deps: FetchFileDeps, fileId: string, signal: AbortSignal): Promise<URL> {
  const { api, settings } = deps;
  let answer: unknown;
  try {
    answer = await api.call('getFile', { file_id: fileId }, signal);
  } catch (thrown) {
    const failure = callFailureOf(thrown);
    if (/file is too big/i.test(failure.reason)) throw tooLarge(MAX_DOWNLOAD_BYTES, thrown);
    throw repeatableErrorOf(failure, FILE, thrown);
  }
  const file = FileAnswer.safeParse(answer);
  const address = file.success
    ? fileAddress(settings.apiRoot, settings.token, file.data.file_path)
    : undefined;
  if (address) return address;
  throw failed({ kind: 'refused' }, 'the server names no place that can be fetched from');
}

function kindOf(status: number): ChannelFailure {
  if (status === 429) return { kind: 'rate-limited', retryAfterMs: 5_000, scope: 'account' };
  return status >= 500 || status === 401 ? { kind: 'transient' } : { kind: 'refused' };
}

function interrupted(thrown: unknown): never {
  throw repeatableErrorOf(callFailureOf(thrown), FILE, thrown);
}

function tooLarge(limit: number, cause?: unknown): ChannelError {
  const megabytes = Math.round((limit / 1024 / 1024) * 10) / 10;
  return failed({ kind: 'refused' }, `it is larger than ${megabytes} MB`, cause);
}

function failed(failure: ChannelFailure, reason: string, cause?: unknown): ChannelError {
  return new ChannelError(failure, `${FILE}: ${reason}.`, cause);
}

/**
 * Where a file can be fetched, by the answer of getFile; undefined when that leads nowhere a bot may
 * go: a server in local mode names a path on its own disk, and nothing there is read.
 */
export function fileAddress(apiRoot: string, token: string, path: string): URL | undefined {
  const steps = path.split('/');
  const strange = steps.some((step) => step === '' || step === '.' || step === '..');
  if (strange || path.includes('\\')) return undefined;
  const root = apiRoot.endsWith('/') ? apiRoot : `${apiRoot}/`;
  return new URL(`file/bot${token}/${steps.map(encodeURIComponent).join('/')}`, root);
}
