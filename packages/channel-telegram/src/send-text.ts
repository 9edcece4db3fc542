import { ChannelError, type OutboundPart, type Receipt } from '@parley/contracts';
import { callFailureOf } from './call-failure.ts';
import { keyboardOf } from './keyboard.ts';
import { type Attempt, nextAttempt } from './next-attempt.ts';
import { replyTo, threadOf } from './place.ts';
import { plainText } from './plain-text.ts';
import { sendErrorOf } from './send-failure.ts';
import type { TelegramApi } from './telegram-api.ts';

/** What sending needs; `note` tells operators of what happens on the way. */
export interface SendDeps {
  readonly api: Pick<TelegramApi, 'send'>;
  readonly linkPreviews: boolean;
  readonly note: (facts: object, message: string) => void;
  /** Called before the first byte of a message leaves. */
  readonly begun?: (() => void) | undefined;
}

/** One call of the Bot API. */
export interface Call {
  readonly method: string;
  readonly payload: object;
}

/** Sends the words of a part as a message. Throws only `ChannelError`. */
export async function sendText(
  deps: SendDeps,
  part: OutboundPart,
  signal: AbortSignal,
): Promise<Receipt> {
  const previews = deps.linkPreviews ? {} : { link_preview_options: { is_disabled: true } };
  const keyboard = keyboardOf(part.buttons);
  const make = (attempt: Attempt): Call => ({
    method: 'sendMessage',
    payload: {
      text: attempt.html ? part.body.text : plainText(part.body),
      ...markupOf(attempt),
      ...previews,
      ...placeOf(part, attempt),
      ...keyboard,
    },
  });
  return sendCall(deps, part, make, signal);
}

/** Chat, topic and the message to quote; in a chat that has moved the question has another number. */
export function placeOf({ route }: OutboundPart, { chatId }: Attempt): object {
  const quoted = chatId === route.chatId ? route.replyToMessageId : undefined;
  return { chat_id: chatId, ...threadOf(route.threadId), ...replyTo(quoted) };
}

/** How the words of an attempt are to be read. */
export function markupOf({ html }: Attempt): { parse_mode?: 'HTML' } {
  return html ? { parse_mode: 'HTML' } : {};
}

/**
 * Makes one message. Refusals that another form goes round are met by sending once more, which
 * repeats nothing because Telegram sent nothing. Throws only `ChannelError`.
 */
export async function sendCall(
  { api, note, begun }: SendDeps,
  part: OutboundPart,
  make: (attempt: Attempt) => Call,
  signal: AbortSignal,
): Promise<Receipt> {
  const { chatId } = part.route;
  let attempt: Attempt = { chatId, html: true, asDocument: false };
  for (;;) {
    if (signal.aborted) throw notStarted(chatId);
    const { method, payload } = make(attempt);
    try {
      const platformMessageId = await api.send(method, payload, signal, begun);
      const moved = attempt.chatId !== chatId;
      return { platformMessageId, ...(moved ? { migratedTo: attempt.chatId } : {}) };
    } catch (thrown) {
      const failure = callFailureOf(thrown);
      const next = nextAttempt(attempt, failure);
      if (next === undefined) throw sendErrorOf(failure, attempt.chatId, thrown);
      note({ part: part.id, chatId, reason: failure.reason }, next.because);
      attempt = next.attempt;
    }
  }
}

function notStarted(chatId: string): ChannelError {
  return new ChannelError(
    { kind: 'transient' },
    `Telegram chat ${chatId}: stopped before sending.`,
  );
}
