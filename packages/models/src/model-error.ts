import { ParleyError } from '@parley/contracts';

/** Why a model gave no answer, as far as a caller can act on it. */
export type ModelFailure =
  | { readonly kind: 'unreachable' }
  | { readonly kind: 'broken-off' }
  | { readonly kind: 'unauthorised' }
  | { readonly kind: 'no-credit' }
  | { readonly kind: 'not-found' }
  | { readonly kind: 'rate-limited'; readonly retryAfterMs: number | null }
  | { readonly kind: 'overloaded' }
  | { readonly kind: 'too-long' }
  | { readonly kind: 'refused' }
  /** The model takes no tools. */
  | { readonly kind: 'no-tools' }
  | { readonly kind: 'filtered' }
  | { readonly kind: 'rubbish' }
  | { readonly kind: 'empty' }
  | { readonly kind: 'timeout'; readonly phase: 'first-token' | 'stalled' | 'total' }
  | { readonly kind: 'aborted' };

const RETRYABLE: ReadonlySet<ModelFailure['kind']> = new Set([
  'unreachable',
  'broken-off',
  'rate-limited',
  'overloaded',
  'empty',
  'timeout',
]);

/**
 * The only error a `ChatModel` throws; its code is `model-` and the failure's kind. The message is for
 * people. `cause` never holds the request, so that a prompt cannot reach a log through an error.
 */
export class ModelError extends ParleyError {
  readonly failure: ModelFailure;
  /** The model that failed, as `provider/model`. */
  readonly model: string;

  constructor(failure: ModelFailure, model: string, message: string, cause?: unknown) {
    const code = `model-${failure.kind}`;
    super({ code, message, retryable: RETRYABLE.has(failure.kind), cause });
    this.failure = failure;
    this.model = model;
  }
}
