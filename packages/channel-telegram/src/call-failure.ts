import { neverConnected } from '@parley/channels';
import { reasonOf } from '@parley/contracts';
import { TelegramError } from 'telegraf';

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
  const reason = withoutToken(reasonOf(thrown));
  if (thrown instanceof TelegramError) return refusalOf(thrown);
  const connecting = neverConnected(thrown) || /reason: connect /.test(reason);
  if (connecting) return { kind: 'not-sent', reason };
  const aborted = thrown instanceof Error && thrown.name === 'AbortError';
  return { kind: 'unknown', reason: aborted ? 'no answer in time' : reason };
}

/** From 500 on it is a gateway that speaks: whether the call went through is not known. */
function refusalOf({ code, description, parameters }: TelegramError): CallFailure {
  if (code >= 500) return { kind: 'unknown', reason: `HTTP ${code} ${description}`.trim() };
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
