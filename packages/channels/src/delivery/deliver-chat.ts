import {
  type Capabilities,
  ChannelError,
  type Clock,
  type Logger,
  type Meter,
  type OutboundPart,
  type PassPoint,
  type Receipt,
  reasonOf,
} from '@parley/contracts';
import { render } from '@parley/markup';
import type { ChatKey, DuePart, NewPart, OutboxRepository } from '@parley/store';
import { afterFailure } from './after-failure.ts';
import { canBeTold, refusedNotice, UNCERTAIN_NOTICE } from './delivery-notices.ts';

/** What delivering to the chats of one account needs. */
export interface DeliveryDeps {
  readonly outbox: OutboxRepository;
  readonly capabilities: Capabilities;
  send(part: OutboundPart, signal: AbortSignal): Promise<Receipt>;
  readonly log: Logger;
  readonly meter: Meter;
  readonly clock: Clock;
  readonly random: () => number;
  readonly pass: PassPoint;
}

/** Longest time one send may take before its outcome counts as unknown. */
const SEND_TIMEOUT_MS = 30_000;

/**
 * Sends what a chat is owed, in order, until nothing is due (D04). Returns after how many ms to come
 * back, or null when all is sent. Only one call per chat may run at a time.
 */
export async function deliverChat(
  deps: DeliveryDeps,
  chat: ChatKey,
  signal: AbortSignal,
): Promise<number | null> {
  while (!signal.aborted) {
    const due = await deps.outbox.next(chat);
    if (!due) return null;
    if (due.state === 'sending') {
      await recover(deps, due);
      continue;
    }
    const wait = due.notBefore - deps.clock();
    if (wait > 0) return wait;
    if (await deps.outbox.markSending(due.part.id, deps.clock())) await sendPart(deps, chat, due);
  }
  return null;
}

/** A part found in `sending` belonged to a process that died: the platform may or may not have it. */
async function recover(deps: DeliveryDeps, { part }: DuePart): Promise<void> {
  if (deps.capabilities.idempotentSend) {
    await deps.outbox.retryLater(part.id, deps.clock(), 'interrupted while sending', 'free');
    return;
  }
  await giveUp(deps, part, 'unknown', 'interrupted while sending', UNCERTAIN_NOTICE);
}

async function sendPart(deps: DeliveryDeps, chat: ChatKey, due: DuePart): Promise<void> {
  const { part } = due;
  const startedAt = deps.clock();
  deps.pass('part-sending');
  try {
    const receipt = await deps.send(part, AbortSignal.timeout(SEND_TIMEOUT_MS));
    deps.pass('part-sent');
    await deps.outbox.markSent(part.id, receipt.platformMessageId, deps.clock());
    if (receipt.migratedTo !== undefined) await deps.outbox.migrateChat(chat, receipt.migratedTo);
    deps.meter.count('parley_outbox_parts_total', { channel: chat.channel, state: 'sent' });
    deps.meter.observe('parley_delivery_seconds', deps.clock() - startedAt, {
      channel: chat.channel,
    });
  } catch (thrown) {
    if (!(thrown instanceof ChannelError))
      deps.log.error({ part: part.id, reason: reasonOf(thrown) }, 'adapter defect');
    await afterThrow(deps, due, asChannelError(thrown));
  }
}

async function afterThrow(deps: DeliveryDeps, due: DuePart, error: ChannelError): Promise<void> {
  const { part } = due;
  const { idempotentSend } = deps.capabilities;
  const facts = {
    failure: error.failure,
    attempts: due.attempts,
    idempotentSend,
    random: deps.random(),
  };
  const decision = afterFailure(facts);
  if (decision.kind === 'retry') {
    deps.log.warn(
      { part: part.id, afterMs: decision.afterMs, reason: error.message },
      'send again later',
    );
    await deps.outbox.retryLater(
      part.id,
      deps.clock() + decision.afterMs,
      error.message,
      decision.attempt,
    );
    return;
  }
  const notice = decision.state === 'unknown' ? UNCERTAIN_NOTICE : refusedNotice(error.message);
  await giveUp(deps, part, decision.state, error.message, canBeTold(error.failure) ? notice : null);
}

async function giveUp(
  deps: DeliveryDeps,
  part: OutboundPart,
  state: 'failed' | 'unknown',
  reason: string,
  notice: string | null,
): Promise<void> {
  const { route } = part;
  // A notice that fails must not bring forth another one.
  const body =
    part.turnId !== null && notice !== null ? render(notice, route.target)[0] : undefined;
  const told: NewPart | null = body ? { route, body } : null;
  await deps.outbox.giveUp(part.id, state, reason, deps.clock(), told);
  deps.meter.count('parley_outbox_parts_total', { channel: route.channel, state });
  deps.log.warn({ part: part.id, chat: route.chatId, state, reason }, 'part not delivered');
}

function asChannelError(thrown: unknown): ChannelError {
  if (thrown instanceof ChannelError) return thrown;
  return new ChannelError({ kind: 'unknown-outcome' }, reasonOf(thrown), thrown);
}
