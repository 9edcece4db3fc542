import type { ChannelContext, IngressOutcome } from '@parley/channels';
import { reasonOf } from '@parley/contracts';
import { callFailureOf } from './call-failure.ts';
import { pressToInbound } from './press.ts';
import type { TelegramApi } from './telegram-api.ts';
import type { WirePress } from './wire-message.ts';

/** What taking a press needs. */
export interface PressDeps
  extends Pick<ChannelContext<unknown>, 'account' | 'receive' | 'log' | 'clock'> {
  readonly api: Pick<TelegramApi, 'call'>;
  /** Ends what is still said to Telegram about a press. */
  readonly stopping: AbortSignal;
}

/** Longest answer to a press, in characters. */
const MAX_ANSWER = 200;

/**
 * Takes a press as a message of whoever pressed; rejects when it must come again (D01). The button's
 * clock stops whatever becomes of it. Somebody who may not decide is told so alone, on top of the
 * chat; what is decided loses its buttons. Neither matters for truth: a failure there changes nothing.
 */
export async function takePress(deps: PressDeps, press: WirePress): Promise<void> {
  const message = pressToInbound(press, deps.account, deps.clock());
  let outcome: IngressOutcome | undefined;
  try {
    if (message !== undefined) outcome = await deps.receive(message);
  } finally {
    void answer(deps, press, outcome);
  }
  if (outcome?.kind === 'command' && outcome.settled) void removeButtons(deps, press);
}

async function answer(
  { api, log, stopping }: PressDeps,
  { id }: WirePress,
  outcome: IngressOutcome | undefined,
): Promise<void> {
  const words = outcome?.kind === 'command' ? outcome.declined : undefined;
  const shown = words === undefined ? {} : { text: words.slice(0, MAX_ANSWER), show_alert: true };
  try {
    await api.call('answerCallbackQuery', { callback_query_id: id, ...shown }, stopping);
  } catch (error) {
    log.debug({ reason: reasonOf(error) }, 'press of a button not acknowledged');
  }
}

async function removeButtons(
  { api, log, stopping }: PressDeps,
  { message }: WirePress,
): Promise<void> {
  if (message === undefined) return;
  const place = { chat_id: message.chat.id, message_id: message.message_id };
  try {
    await api.call('editMessageReplyMarkup', place, stopping);
  } catch (error) {
    // Of two presses the second finds them gone.
    const { reason } = callFailureOf(error);
    if (!/message is not modified/i.test(reason)) log.debug({ reason }, 'buttons not removed');
  }
}
