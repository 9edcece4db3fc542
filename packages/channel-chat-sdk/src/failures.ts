import { callOutcome } from '@parley/channels';
import { ChannelError, type ChannelFailure, reasonOf, rejectOnAbort } from '@parley/core';
import { z } from 'zod';

/**
 * The fields of errors thrown by adapters and their libraries. Adapters with different versions
 * bundle their own error classes, so errors are recognized by their fields.
 */
const ErrorFields = z.object({
  name: z.string().optional().catch(undefined),
  code: z.union([z.string(), z.number()]).optional().catch(undefined),
  status: z.coerce.number().optional().catch(undefined),
  statusCode: z.number().optional().catch(undefined),
  /** Seconds. */
  retryAfter: z.number().optional().catch(undefined),
  response: z
    .object({ status: z.number().optional(), headers: z.unknown() })
    .optional()
    .catch(undefined),
  data: z.object({ error: z.string().optional() }).optional().catch(undefined),
  /** Meta's error code. */
  errorCode: z.number().optional().catch(undefined),
  /** Linear's error type. */
  type: z.string().optional().catch(undefined),
});
type ErrorFields = z.infer<typeof ErrorFields>;

/** Why an adapter call failed. */
export interface CallFailure {
  readonly failure: ChannelFailure;
  readonly reason: string;
  /** The platform rejects the account itself, so every other call would also fail. */
  readonly isAccount: boolean;
}

const DEFAULT_RETRY_AFTER_MS = 5_000;
const MAX_CAUSES = 6;

/** The innermost error with a recognized field determines the kind of failure. */
export function toCallFailure(thrown: unknown): CallFailure {
  const chain = listCauses(thrown);
  const reason = chain.map(reasonOf).find((text) => text !== '') ?? 'it failed';
  for (const fields of chain.map((error) => ErrorFields.safeParse(error).data ?? {})) {
    const found =
      classifySlackError(fields) ??
      classifyMetaError(fields) ??
      classifyLinearError(fields) ??
      classifyAdapterError(fields) ??
      classifyHttpError(fields);
    if (found !== undefined) return { ...found, reason };
  }
  const outcome = callOutcome({ error: chain.at(-1) });
  const isUnsent = chain.some((error) => callOutcome({ error }) === 'not-sent');
  const failure: ChannelFailure =
    outcome === 'not-sent' || isUnsent
      ? { kind: 'transient', untried: true }
      : { kind: 'unknown-outcome' };
  return { failure, reason, isAccount: false };
}

type FailureDetails = Omit<CallFailure, 'reason'>;
const of = (failure: ChannelFailure, isAccount = false): FailureDetails => ({ failure, isAccount });
const limited = (seconds: number | undefined): FailureDetails =>
  of({
    kind: 'rate-limited',
    retryAfterMs: seconds === undefined ? DEFAULT_RETRY_AFTER_MS : seconds * 1_000,
    scope: 'chat',
  });
/** The message part can be sent once the account is fixed. */
const ACCOUNT = of({ kind: 'transient' }, true);

/** The error and its causes, outermost first. */
function listCauses(thrown: unknown): readonly unknown[] {
  const chain: unknown[] = [];
  let error: unknown = thrown;
  while (error != null && chain.length < MAX_CAUSES && !chain.includes(error)) {
    chain.push(error);
    const inner = error as Record<'original' | 'originalError' | 'cause' | 'raw', unknown>;
    // Linear's client stores the response in `raw`, while other clients use `response`.
    const raw = inner.raw instanceof Error ? inner.raw : undefined;
    error = inner.original ?? inner.originalError ?? inner.cause ?? raw;
  }
  return chain;
}

const SLACK_ACCOUNT =
  /^(?:invalid_auth|not_authed|token_revoked|token_expired|account_inactive|org_login_required|team_access_not_granted)$/;
const SLACK_GONE =
  /^(?:channel_not_found|is_archived|message_not_found|thread_not_found|user_not_found|users_not_found)$/;
const SLACK_FORBIDDEN =
  /^(?:not_in_channel|restricted_action\w*|cannot_dm_bot|messages_tab_disabled|missing_scope|ekm_access_denied|no_permission|access_denied|cant_(?:update|delete)_message|edit_window_closed)$/;
const SLACK_FORMAT =
  /^(?:invalid_blocks\w*|invalid_attachments|msg_too_long|msg_blocks_too_long|markdown_text_conflict|no_text)$/;
const SLACK_UNCLEAR = /^(?:internal_error|fatal_error|service_unavailable|request_timeout)$/;

function classifySlackError({ code, data, retryAfter }: ErrorFields): FailureDetails | undefined {
  if (code === 'slack_webapi_rate_limited_error') return limited(retryAfter);
  const error = code === 'slack_webapi_platform_error' ? data?.error : undefined;
  if (error === undefined) return undefined;
  if (/^(?:ratelimited|rate_limited|message_limit_exceeded)$/.test(error))
    return limited(undefined);
  if (SLACK_ACCOUNT.test(error)) return ACCOUNT;
  if (SLACK_GONE.test(error)) return of({ kind: 'gone' });
  if (SLACK_FORBIDDEN.test(error)) return of({ kind: 'forbidden' });
  if (SLACK_FORMAT.test(error)) return of({ kind: 'refused-format' });
  // Slack's documentation says that such a call may have been partly executed.
  if (SLACK_UNCLEAR.test(error)) return of({ kind: 'unknown-outcome' });
  return of({ kind: 'refused' });
}

/** https://developers.facebook.com/docs/whatsapp/cloud-api/support/error-codes */
function classifyMetaError({ errorCode }: ErrorFields): FailureDetails | undefined {
  if (errorCode === undefined) return undefined;
  if ([4, 80_007, 130_429, 131_048, 131_056].includes(errorCode)) return limited(undefined);
  if ([0, 190].includes(errorCode)) return ACCOUNT;
  if (errorCode === 131_026) return of({ kind: 'gone' });
  // Error 131047: the person last wrote more than 24 hours ago.
  if ([3, 10, 131_005, 131_031, 131_047].includes(errorCode)) return of({ kind: 'forbidden' });
  if ([1, 2, 131_000, 131_016].includes(errorCode)) return of({ kind: 'unknown-outcome' });
  return errorCode >= 200 && errorCode < 300 ? of({ kind: 'forbidden' }) : undefined;
}

/**
 * Linear uses GraphQL, so every error has status 200 or 400:
 * https://linear.app/developers/sdk-errors
 */
function classifyLinearError({ type, retryAfter }: ErrorFields): FailureDetails | undefined {
  switch (type) {
    case 'Ratelimited':
      return limited(retryAfter);
    case 'AuthenticationError':
      return ACCOUNT;
    case 'Forbidden':
    case 'FeatureNotAccessible':
    case 'UsageLimitExceeded':
      return of({ kind: 'forbidden' });
    case 'InvalidInput':
    case 'UserError':
    case 'GraphqlError':
      return of({ kind: 'refused' });
    default:
      return undefined;
  }
}

function classifyAdapterError({ name, retryAfter }: ErrorFields): FailureDetails | undefined {
  switch (name) {
    case 'AdapterRateLimitError':
    case 'RateLimitError':
      return limited(retryAfter);
    case 'AuthenticationError':
      return ACCOUNT;
    case 'PermissionError':
      return of({ kind: 'forbidden' });
    case 'ResourceNotFoundError':
      return of({ kind: 'gone' });
    case 'ValidationError':
      return of({ kind: 'refused-format' });
    case 'NotImplementedError':
      return of({ kind: 'refused' });
    default:
      return undefined;
  }
}

function classifyHttpError({
  status,
  statusCode,
  response,
  code,
}: ErrorFields): FailureDetails | undefined {
  const number = typeof code === 'number' ? code : undefined;
  const http = response?.status ?? statusCode ?? status ?? number;
  if (http === undefined || Number.isNaN(http) || http < 400) return undefined;
  const outcome = callOutcome({ error: undefined, status: http });
  if (outcome !== 'refused') return of({ kind: 'unknown-outcome' });
  const seconds = parseRetryAfter(response?.headers);
  // GitHub returns 403 when an account exceeds its rate limit.
  if (http === 429 || (http === 403 && seconds !== undefined)) return limited(seconds);
  if (http === 401) return ACCOUNT;
  if (http === 403) return of({ kind: 'forbidden' });
  if (http === 404 || http === 410) return of({ kind: 'gone' });
  return of({ kind: 'refused' });
}

function parseRetryAfter(headers: unknown): number | undefined {
  const text =
    headers instanceof Headers
      ? headers.get('retry-after')
      : (headers as Record<string, unknown> | undefined)?.['retry-after'];
  const seconds = Number.parseInt(String(text), 10);
  return Number.isNaN(seconds) ? undefined : seconds;
}

const ADVICE: Readonly<Record<ChannelFailure['kind'], string>> = {
  'rate-limited': 'The message will be sent after the wait.',
  'refused-format': 'The platform does not accept its format.',
  gone: 'The chat or the message no longer exists.',
  forbidden: 'Allow the bot to write there, and check its permissions.',
  refused: '',
  transient: 'Parley will try again.',
  'unknown-outcome': 'The message may have arrived; check the chat.',
};

/** The delivery error for a failed call; `what` names what was sent and begins the sentence. */
export function toSendError(thrown: unknown, what: string): ChannelError {
  const { failure, reason, isAccount } = toCallFailure(thrown);
  const advice = isAccount ? "Check the account's credentials." : ADVICE[failure.kind];
  return new ChannelError(failure, `${what}: ${reason}. ${advice}`.trim(), thrown);
}

/** The delivery error for a call that is safe to repeat, so a lost response does not matter. */
export function toRepeatableError(thrown: unknown, what: string): ChannelError {
  const { failure, reason } = toCallFailure(thrown);
  const kind = failure.kind === 'unknown-outcome' ? ({ kind: 'transient' } as const) : failure;
  return new ChannelError(kind, `${what}: ${reason}.`, thrown);
}

/**
 * Waits for a call until the signal is aborted. Adapters cannot cancel calls, so the call itself
 * continues.
 */
export function withAbortSignal<T>(call: Promise<T>, signal: AbortSignal): Promise<T> {
  return rejectOnAbort(call, signal, () => new Error('no answer in time'));
}
