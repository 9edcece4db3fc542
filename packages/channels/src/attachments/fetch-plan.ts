import { ChannelError } from '@parley/core';
import type { DueAttachment } from '@parley/store';

/** Limits for incoming files, in bytes; from the settings. */
export interface MediaLimits {
  readonly fileBytes: number;
  /** The total for all files of one message. */
  readonly messageBytes: number;
  readonly keptBytes: number;
  /** The share of one person who is not an owner: the number of files, and their total bytes. */
  readonly personFiles: number;
  readonly personBytes: number;
}

/**
 * Whether to fetch an attachment, and the maximum number of bytes; `why` completes the refusal
 * text.
 */
type FetchPlan =
  | {
      readonly kind: 'fetch';
      readonly limit: number;
      /** The reason for refusing the file if it exceeds the limit during the fetch. */
      readonly why: string;
    }
  | { readonly kind: 'refuse'; readonly why: string };

type FetchFailureDecision =
  | { readonly kind: 'retry'; readonly inMs: number }
  | { readonly kind: 'give-up'; readonly why: string };

const MB = 1_024 * 1_024;
/** The sum of the delays stays within the minute for which a message waits for its files. */
const RETRY_DELAYS_MS = [2_000, 6_000, 20_000];

/** The remaining bytes, in total and for the sender's files. */
interface RemainingQuota {
  readonly all: number;
  readonly sender: number;
}

const TOO_MANY_FILES =
  'its sender has sent more files than I accept at a time; send it again when I have answered the others';

/**
 * Decides how many bytes of an attachment may be fetched. `platformBytes` is the largest file that
 * the platform serves to bots.
 */
export function planFetch(
  due: Pick<DueAttachment, 'attachment' | 'bytesTaken'>,
  limits: Pick<MediaLimits, 'fileBytes' | 'messageBytes'>,
  platformBytes: number,
  room: RemainingQuota,
): FetchPlan {
  if (room.all < limits.fileBytes) {
    return { kind: 'refuse', why: 'I have no room for more files at the moment' };
  }
  const perFile = Math.min(limits.fileBytes, platformBytes);
  const left = limits.messageBytes - due.bytesTaken;
  const limit = Math.min(perFile, left, room.sender);
  const why =
    limit === perFile
      ? `it is larger than the ${formatMegabytes(perFile)} that I can accept`
      : limit === left
        ? `the files of one message may have ${formatMegabytes(limits.messageBytes)} together`
        : TOO_MANY_FILES;
  const claimed = due.attachment.size ?? 0;
  return claimed > limit || limit <= 0 ? { kind: 'refuse', why } : { kind: 'fetch', limit, why };
}

/** Decides whether a failed fetch is retried; `attempts` counts the attempts before this one. */
export function decideAfterFetchFailure(thrown: unknown, attempts: number): FetchFailureDecision {
  const failure = thrown instanceof ChannelError ? thrown.failure : null;
  switch (failure?.kind) {
    case 'gone':
    case 'forbidden':
    case 'refused':
    case 'refused-format':
      return { kind: 'give-up', why: 'it is too large for the platform, or no longer available' };
  }
  const wait = RETRY_DELAYS_MS[attempts];
  if (wait === undefined) return { kind: 'give-up', why: 'it could not be fetched' };
  const asked = failure?.kind === 'rate-limited' ? failure.retryAfterMs : 0;
  return { kind: 'retry', inMs: Math.max(wait, asked) };
}

function formatMegabytes(bytes: number): string {
  return `${Math.round((bytes / MB) * 10) / 10} MB`;
}
