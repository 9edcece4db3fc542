import { ParleyError } from './errors.ts';

/**
 * Platform errors, translated at the adapter into what the delivery pipeline must do:
 * wait, send plain text, give up on this chat, give up on this part, try again, or admit not knowing.
 */
export type ChannelFailure =
  | {
      readonly kind: 'rate-limited';
      readonly retryAfterMs: number;
      readonly scope: 'chat' | 'account';
    }
  | { readonly kind: 'refused-format' }
  | { readonly kind: 'gone' }
  | { readonly kind: 'forbidden' }
  | { readonly kind: 'refused' }
  /** `untried`: there was no connection to try it on. */
  | { readonly kind: 'transient'; readonly untried?: true }
  | { readonly kind: 'unknown-outcome' };

const RETRYABLE: ReadonlySet<ChannelFailure['kind']> = new Set(['rate-limited', 'transient']);

/** The only error an adapter's `send` may throw; anything else counts as `unknown-outcome`. */
export class ChannelError extends ParleyError {
  readonly failure: ChannelFailure;

  constructor(failure: ChannelFailure, message: string, cause?: unknown) {
    super({
      code: `channel-${failure.kind}`,
      message,
      retryable: RETRYABLE.has(failure.kind),
      cause,
    });
    this.failure = failure;
  }
}
