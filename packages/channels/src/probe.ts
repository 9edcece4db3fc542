import type { AdapterValues, Clock } from '@parley/core';

/**
 * The services available to a probe. A probe must end when `signal` is aborted, and must not change
 * any state.
 */
export interface ProbeEnv {
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** Values stored for the account; null while a running gateway holds them. */
  readonly values: Pick<AdapterValues, 'get'> | null;
  /** Whether to fetch the account's picture as well. */
  readonly wantsPicture?: boolean | undefined;
}

/** A finding that does not prevent the account from working, but limits it. */
export interface ProbeWarning {
  readonly reason: string;
  readonly fix: string;
}

/**
 * How far this machine's clock is ahead of a server's, according to the `Date` header of its
 * response.
 */
export interface ClockSkew {
  readonly server: string;
  /** Negative when this machine's clock is behind. In ms, accurate to about half a second. */
  readonly aheadMs: number;
}

/** The result of probing a channel account. The text in a result never contains a token. */
export type ChannelProbe =
  | {
      readonly kind: 'works';
      /** The account's display name, such as `@my_bot`. */
      readonly as: string;
      readonly warnings: readonly ProbeWarning[];
      readonly clock: ClockSkew | null;
      /**
       * At most `MAX_PICTURE_BYTES`; absent when the account has no picture or it cannot be
       * fetched.
       */
      readonly picture?: Uint8Array;
      /** The page on which people add the bot to their servers. */
      readonly invitation?: string;
    }
  /** A person has to link the account first. */
  | { readonly kind: 'unlinked'; readonly reason: string; readonly fix: string }
  /** Only the running gateway can check the account. */
  | { readonly kind: 'unknown'; readonly reason: string }
  | {
      readonly kind: 'problem';
      readonly reason: string;
      readonly fix: string;
      /** Whether the same probe may succeed later without any change. */
      readonly retryable: boolean;
    };

const MAX_PICTURE_BYTES = 512 * 1_024;
/** A picture is optional, so a slow one must not delay the rest of the probe. */
const PICTURE_TIMEOUT_MS = 5_000;

/**
 * Fetches the account's picture if the caller requests it. Never rejects, because an account works
 * without a picture.
 */
export async function probePicture(
  { signal, wantsPicture = false }: Pick<ProbeEnv, 'signal' | 'wantsPicture'>,
  fetch: (limit: number, signal: AbortSignal) => Promise<Uint8Array | undefined>,
): Promise<{ readonly picture?: Uint8Array }> {
  if (!wantsPicture) return {};
  try {
    const within = AbortSignal.any([signal, AbortSignal.timeout(PICTURE_TIMEOUT_MS)]);
    const picture = await fetch(MAX_PICTURE_BYTES, within);
    return picture === undefined ? {} : { picture };
  } catch {
    return {};
  }
}

/**
 * The header has whole seconds, so on average half a second has passed since the given time. In ms.
 */
const HALF_A_SECOND = 500;

/**
 * Compares the clock with a `Date` header; `asked` and `answered` are the times of the request and
 * its response by this machine's clock, in ms. Null when the header is missing or invalid.
 */
export function measureClockSkew(
  server: string,
  date: string | null | undefined,
  { asked, answered }: { readonly asked: number; readonly answered: number },
): ClockSkew | null {
  const time = Date.parse(date ?? '');
  if (Number.isNaN(time)) return null;
  const ahead = (asked + answered) / 2 - (time + HALF_A_SECOND);
  const uncertain = (answered - asked) / 2 + HALF_A_SECOND;
  const aheadMs = Math.sign(ahead) * Math.max(0, Math.round(Math.abs(ahead) - uncertain));
  return { server, aheadMs: aheadMs === 0 ? 0 : aheadMs };
}
