import { callOutcome } from '@parley/channels';
import { reasonOf } from '@parley/contracts';
import { TelegramError } from 'telegraf';
import { Unsent } from './watch-connections.ts';

/** Why a call has no result; what matters is whether Telegram may have carried it out. */
export type CallFailure =
  /** Telegram said no; it did nothing. */
  | {
      readonly kind: 'refused';
      /** As HTTP: 400, 401, 403, 404, 409, 429. */
      readonly code: number;
      readonly reason: string;
      /** How long to wait, when Telegram says so. */
      readonly retryAfterMs?: number;
      /** The supergroup a group has become. */
      readonly migrateTo?: string;
    }
  /** No connection came about; Telegram knows of nothing. */
  | { readonly kind: 'not-sent'; readonly reason: string }
  /** The request may have arrived: reset, no answer in time, a gateway's error page. */
  | { readonly kind: 'unknown'; readonly reason: string };

/** Reads what telegraf threw. The reason never contains the bot token. */
export function callFailureOf(thrown: unknown): CallFailure {
  const isUnsent = thrown instanceof Unsent;
  const error = isUnsent ? thrown.cause : thrown;
  const answer = error instanceof TelegramError ? error : undefined;
  const outcome = callOutcome({
    error,
    status: answer?.code,
    // A defect of ours proves nothing, and would be repeated for ever.
    ...(isUnsent && !(error instanceof TypeError) ? { connected: false } : {}),
  });
  if (answer !== undefined && outcome === 'refused') return refusalOf(answer);
  const reason = withoutToken(reasonFor(error, answer));
  return outcome === 'not-sent' ? { kind: 'not-sent', reason } : { kind: 'unknown', reason };
}

function reasonFor(error: unknown, answer: TelegramError | undefined): string {
  if (answer !== undefined) return `HTTP ${answer.code} ${answer.description}`.trim();
  const aborted = error instanceof Error && error.name === 'AbortError';
  return aborted ? 'no answer in time' : reasonOf(error);
}

function refusalOf({ code, description, parameters }: TelegramError): CallFailure {
  const { retry_after, migrate_to_chat_id } = parameters ?? {};
  return {
    kind: 'refused',
    code,
    reason: description,
    ...(retry_after === undefined ? {} : { retryAfterMs: retry_after * 1000 }),
    ...(migrate_to_chat_id === undefined ? {} : { migrateTo: String(migrate_to_chat_id) }),
  };
}

/** Telegraf hides the token in network errors, but not where the answer is no JSON; `fetch` never does. */
function withoutToken(text: string): string {
  return text.replace(/\/bot\d+:[^/\s]+/g, '/bot<token>');
}
