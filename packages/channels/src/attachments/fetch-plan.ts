import { ChannelError } from '@parley/core';
import type { DueAttachment } from '@parley/store';

/** How much is taken in, in bytes; from the settings. */
export interface MediaLimits {
  readonly fileBytes: number;
  /** All files of one message together. */
  readonly messageBytes: number;
  /** All files that are kept at a time. */
  readonly keptBytes: number;
}

/** Whether to fetch an attachment, and how many bytes at most; `why` completes the refusal for people. */
export type FetchPlan =
  | {
      readonly kind: 'fetch';
      readonly limit: number;
      /** Why it is refused when there turns out to be more. */
      readonly why: string;
    }
  | { readonly kind: 'refuse'; readonly why: string };

/** What follows a failed try. */
export type AfterFetchFailure =
  | { readonly kind: 'retry'; readonly inMs: number }
  | { readonly kind: 'give-up'; readonly why: string };

const MB = 1_024 * 1_024;
/** All within the minute for which a message waits for its files. */
const WAITS_MS = [2_000, 6_000, 20_000];

/**
 * Decides how much of an attachment may be fetched. `platformBytes`: what the platform serves to bots;
 * `room`: what may still be kept.
 */
export function planFetch(
  due: Pick<DueAttachment, 'attachment' | 'bytesTaken'>,
  limits: MediaLimits,
  platformBytes: number,
  room: number,
): FetchPlan {
  if (room < limits.fileBytes) {
    return { kind: 'refuse', why: 'I have no room for more files at the moment' };
  }
  const perFile = Math.min(limits.fileBytes, platformBytes);
  const left = limits.messageBytes - due.bytesTaken;
  const why =
    left < perFile
      ? `the files of one message may have ${megabytes(limits.messageBytes)} together`
      : `it is larger than the ${megabytes(perFile)} that I can take`;
  const limit = Math.min(perFile, left);
  const claimed = due.attachment.size ?? 0;
  return claimed > limit || limit <= 0 ? { kind: 'refuse', why } : { kind: 'fetch', limit, why };
}

/** Decides whether a failed fetch is tried again; `attempts` counts the tries before this one. */
export function afterFetchFailure(thrown: unknown, attempts: number): AfterFetchFailure {
  const failure = thrown instanceof ChannelError ? thrown.failure : null;
  switch (failure?.kind) {
    case 'gone':
    case 'forbidden':
    case 'refused':
    case 'refused-format':
      return { kind: 'give-up', why: 'it is too large there, or no longer available' };
  }
  const wait = WAITS_MS[attempts];
  if (wait === undefined) return { kind: 'give-up', why: 'it could not be fetched' };
  const asked = failure?.kind === 'rate-limited' ? failure.retryAfterMs : 0;
  return { kind: 'retry', inMs: Math.max(wait, asked) };
}

function megabytes(bytes: number): string {
  return `${Math.round((bytes / MB) * 10) / 10} MB`;
}
