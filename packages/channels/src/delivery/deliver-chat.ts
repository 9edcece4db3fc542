import {
  type Capabilities,
  type Checkpoint,
  type CommittedParts,
  type OutboundPart,
  type Receipt,
  silentTracer,
  type Tracer,
} from '@parley/core';
import { type ChatKey, computeRemainingDelay, type DuePart } from '@parley/store';
import {
  canRepeatSend,
  type FailureDeps,
  failUncertainPart,
  handleSendError,
  isIdempotencyExpired,
  recoverPart,
} from './after-failure.ts';
import { createRetryingOutbox } from './patient-outbox.ts';

export interface DeliveryDeps extends FailureDeps {
  readonly capabilities: FailureDeps['capabilities'] & Pick<Capabilities, 'rates'>;
  send(part: OutboundPart, signal: AbortSignal, onStart: () => void): Promise<Receipt>;
  /** Absent when tracing is disabled. */
  readonly tracer?: Tracer | undefined;
  readonly checkpoint: Checkpoint;
  /** True once another gateway takes over: the part being sent is the last one. */
  readonly isEnding?: (() => boolean) | undefined;
  /** Fires when another gateway serves the account: sends in progress are aborted. */
  readonly lost?: AbortSignal | undefined;
  /**
   * Whether other gateways also send for this account, so that a message part in `sending` may be
   * one of theirs.
   */
  readonly othersSend?: boolean | undefined;
}

/** A text that gets no response within this time is abandoned, and its outcome is unknown (D13). */
const TEXT_LIMIT_MS = 15_000;
/**
 * Uploads may be slow. Adapters whose client reports progress abort a stalled upload themselves
 * after 15 s.
 */
const FILE_LIMIT_MS = 10 * 60_000;
const AT_ONCE = 10;
/**
 * A message part that another gateway was sending is sent again after the first duration; the
 * second is the interval between checks.
 */
const [OTHERS_SEND_MS, RECHECK_MS] = [5_000, 500];

/**
 * Sends the pending parts of a chat in order, until none is due (D04). Returns the delay until the
 * next call in ms, or null when all parts are sent. Only one call per chat may run at a time. A
 * wake-up during the call causes another call, so it need not check for parts added in the
 * meantime. The signal aborts a send in progress; its outcome is then as unknown as after a crash.
 * `fresh` parts are sent without reading them first, unless the outbox refuses because an earlier
 * part is unfinished.
 */
export async function deliverChat(
  services: DeliveryDeps,
  chat: ChatKey,
  signal: AbortSignal,
  fresh?: CommittedParts,
): Promise<number | null> {
  const deps = { ...services, outbox: createRetryingOutbox(services.outbox, signal) };
  let known = fresh && toDueParts(fresh);
  while (!shouldStopDelivery(deps, signal)) {
    const parts = known ?? (await deps.outbox.unfinished(chat, AT_ONCE));
    known = undefined;
    const result = await deliverPartsInOrder(deps, parts, signal);
    if (typeof result === 'number') return result;
    if (result === 'all-sent' && parts.length < AT_ONCE) return null;
  }
  return null;
}

function toDueParts({ parts, createdAt, trace }: CommittedParts): readonly DuePart[] {
  const state = 'pending';
  return parts.map((part) => ({
    part,
    state,
    attempts: 0,
    notBefore: createdAt,
    waitsSince: createdAt,
    sendingAt: null,
    createdAt,
    trace,
  }));
}

/**
 * How long a running gateway may still need for the part that it is sending, in ms. Where several
 * gateways send for an account, sending a message part twice is harmless, so wrongly assuming that
 * the other gateway has crashed is harmless too.
 */
function getOthersRemainingTime(
  { othersSend, clock }: DeliveryDeps,
  { sendingAt }: DuePart,
): number {
  if (othersSend !== true) return 0;
  const sinceMs = Math.abs(clock() - (sendingAt ?? 0));
  return sinceMs < OTHERS_SEND_MS ? RECHECK_MS : 0;
}

function shouldStopDelivery({ isEnding }: DeliveryDeps, signal: AbortSignal): boolean {
  return signal.aborted || isEnding?.() === true;
}

/** `look-again`: the rows may have changed. */
async function deliverPartsInOrder(
  deps: DeliveryDeps,
  parts: readonly DuePart[],
  signal: AbortSignal,
): Promise<number | 'all-sent' | 'look-again'> {
  /**
   * When this part was marked, if it was marked in the transaction that stored the previous part's
   * receipt.
   */
  let sendingAt: number | null = null;
  for (const [index, due] of parts.entries()) {
    const { part } = due;
    if (sendingAt === null) {
      if (shouldStopDelivery(deps, signal)) return 'look-again';
      if (due.state === 'sending') {
        const left = getOthersRemainingTime(deps, due) || (await recoverPart(deps, due));
        if (left > 0) return left;
        deps.notes?.remove(part.id);
        return 'look-again';
      }
      const wait = computePartDelay(deps, due);
      if (wait > 0) return wait;
      sendingAt = deps.clock();
      recordMarkedPart(deps, part, sendingAt);
      if (!(await deps.outbox.markSending(part.id, sendingAt))) return dropUnmarkedPart(deps, part);
    }
    if (isIdempotencyExpired(deps, due)) {
      await failUncertainPart(deps, due);
      return dropUnmarkedPart(deps, part);
    }
    const following = parts[index + 1];
    const sent = await sendWithTrace(deps, { due: { ...due, sendingAt }, following }, signal);
    deps.notes?.remove(part.id);
    if (sent.kind !== 'sent') return 'look-again';
    sendingAt = sent.followingAt;
  }
  return 'all-sent';
}

/** The part is no longer pending. */
function dropUnmarkedPart({ notes }: DeliveryDeps, part: OutboundPart): 'look-again' {
  notes?.remove(part.id);
  return 'look-again';
}

function recordMarkedPart(deps: DeliveryDeps, part: OutboundPart, at: number): void {
  if (!canRepeatSend(deps, part)) deps.notes?.write({ partId: part.id, at }, { kind: 'marked' });
}

/** The delay until the part is due and the limits of the platform and account permit it. In ms. */
function computePartDelay({ pacer, clock, monotonic }: DeliveryDeps, due: DuePart): number {
  return computeRemainingDelay(due, clock()) || pacer.take(due.part.route, monotonic());
}

/** A message part that is marked as being sent, and the part after it. */
interface MarkedPart {
  readonly due: DuePart;
  readonly following: DuePart | undefined;
}

/** `followingAt`: when the next part was marked as being sent; null when it was not marked. */
type SendResult =
  | { readonly kind: 'sent'; readonly followingAt: number | null }
  | { readonly kind: 'not-sent' };

/** Sends a message part within a span of its trace. */
function sendWithTrace(
  deps: DeliveryDeps,
  marked: MarkedPart,
  signal: AbortSignal,
): Promise<SendResult> {
  const { due } = marked;
  const { tracer = silentTracer, clock, meter } = deps;
  const { channel } = due.part.route;
  meter.observe('parley_outbox_wait_seconds', Math.max(0, clock() - due.createdAt), { channel });
  const facts = { channel, attempt: due.attempts + 1 };
  return tracer.span('parley.delivery', { parent: due.trace, facts }, () =>
    sendPart(deps, marked, signal),
  );
}

async function sendPart(
  deps: DeliveryDeps,
  { due, following }: MarkedPart,
  signal: AbortSignal,
): Promise<SendResult> {
  const { part } = due;
  const { tracer = silentTracer } = deps;
  const startedAt = deps.monotonic();
  const notes = canRepeatSend(deps, part) ? undefined : deps.notes;
  const attempt = { partId: part.id, at: due.sendingAt ?? deps.clock() };
  const onStart = () => notes?.write(attempt, { kind: 'started' });
  deps.checkpoint('part-sending');
  let receipt: Receipt;
  try {
    receipt = await tracer.span('parley.send', {}, () =>
      runWithinLimit(part, [signal, deps.lost], (limited) => deps.send(part, limited, onStart)),
    );
  } catch (thrown) {
    await handleSendError(deps, due, thrown);
    return { kind: 'not-sent' };
  }
  const { platformMessageId } = receipt;
  notes?.write(attempt, { kind: 'arrived', platformMessageId });
  deps.checkpoint('part-sent');
  const { channel } = part.route;
  deps.meter.observe('parley_delivery_seconds', deps.monotonic() - startedAt, { channel });
  return tracer.span('parley.receipt', {}, () =>
    recordSentPart(deps, { part, receipt, following }, signal),
  );
}

/** Runs a send that is aborted by any of these signals or by a timeout. */
async function runWithinLimit<T>(
  { file }: OutboundPart,
  signals: readonly (AbortSignal | undefined)[],
  send: (limited: AbortSignal) => Promise<T>,
): Promise<T> {
  const limited = new AbortController();
  const end = (): void => limited.abort(signals.find((signal) => signal?.aborted)?.reason);
  const timer = setTimeout(
    () => limited.abort(new DOMException('', 'TimeoutError')),
    file === undefined ? TEXT_LIMIT_MS : FILE_LIMIT_MS,
  );
  if (signals.some((signal) => signal?.aborted)) end();
  for (const signal of signals) signal?.addEventListener('abort', end);
  try {
    return await send(limited.signal);
  } finally {
    clearTimeout(timer);
    for (const signal of signals) signal?.removeEventListener('abort', end);
  }
}

/** Rejects on a permanent database failure: the part then stays in `sending`, as after a crash. */
async function recordSentPart(
  deps: DeliveryDeps,
  {
    part,
    receipt: { platformMessageId },
    following,
  }: { part: OutboundPart; receipt: Receipt; following: DuePart | undefined },
  signal: AbortSignal,
): Promise<SendResult> {
  const { channel } = part.route;
  const at = deps.clock();
  const next =
    !shouldStopDelivery(deps, signal) && following && isPartReady(deps, following)
      ? following.part
      : undefined;
  if (next !== undefined) recordMarkedPart(deps, next, at);
  const isMarked = await deps.outbox.markSent(part.id, platformMessageId, at, next?.id);
  if (next !== undefined && !isMarked) deps.notes?.remove(next.id);
  deps.checkpoint('part-recorded');
  deps.meter.count('parley_outbox_parts_total', { channel, state: 'sent' });
  return { kind: 'sent', followingAt: isMarked ? at : null };
}

function isPartReady(deps: DeliveryDeps, due: DuePart): boolean {
  return due.state === 'pending' && computePartDelay(deps, due) === 0;
}
