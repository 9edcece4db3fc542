import type { AdapterValues, Clock } from '@parley/core';

/** What a probe may use: it must end when `signal` is aborted, and changes nothing anywhere. */
export interface ProbeEnv {
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** What the account remembers; null while a running gateway holds it. */
  readonly values: Pick<AdapterValues, 'get'> | null;
}

/** Something that works, but not as well as it could. */
export interface ProbeWarning {
  readonly reason: string;
  readonly fix: string;
}

/** How far the clock of this machine is ahead of a server's, by the `Date` header of its answer. */
export interface ClockReading {
  /** Host of the server. */
  readonly server: string;
  /** Negative: behind. In ms, to about half a second. */
  readonly aheadMs: number;
}

/** What one look at a channel account has found. Texts hold no token. */
export type ChannelProbe =
  | {
      readonly kind: 'works';
      /** The account for people: `@my_bot`. */
      readonly as: string;
      readonly warnings: readonly ProbeWarning[];
      readonly clock: ClockReading | null;
    }
  /** It waits for a person to link it. */
  | { readonly kind: 'unlinked'; readonly reason: string; readonly fix: string }
  /** Only the running gateway knows. */
  | { readonly kind: 'unknown'; readonly reason: string }
  | {
      readonly kind: 'problem';
      readonly reason: string;
      readonly fix: string;
      /** It may work later without anyone changing anything. */
      readonly retryable: boolean;
    };

/** Headers state full seconds: on average half a second has passed since. In ms. */
const HALF_A_SECOND = 500;

/**
 * Compares the clock with a `Date` header; `asked` and `answered` are the times of the request by this
 * machine's clock, in ms. Null for a missing or unreadable header.
 */
export function readClock(
  server: string,
  date: string | null | undefined,
  { asked, answered }: { readonly asked: number; readonly answered: number },
): ClockReading | null {
  const time = Date.parse(date ?? '');
  if (Number.isNaN(time)) return null;
  const ahead = (asked + answered) / 2 - (time + HALF_A_SECOND);
  const uncertain = (answered - asked) / 2 + HALF_A_SECOND;
  const aheadMs = Math.sign(ahead) * Math.max(0, Math.round(Math.abs(ahead) - uncertain));
  return { server, aheadMs: aheadMs === 0 ? 0 : aheadMs };
}
