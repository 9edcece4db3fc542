import {
  type Button,
  type Capabilities,
  ChannelError,
  type ChannelFailure,
  type Clock,
  formatInlineCode,
  type Logger,
  type Meter,
  type Monotonic,
  type OutboundPart,
  type ReplyRoute,
  reasonOf,
  toLiteralMarkdown,
} from '@parley/core';
import { render } from '@parley/markup';
import type { DuePart, NewPart, OutboxRepository } from '@parley/store';
import type { ChannelAdapter } from '../adapter.ts';
import { jitterDelay } from '../reconnect.ts';
import type { Pacer } from './pacer.ts';
import type { SendNotes } from './send-notes.ts';

/** What to do with a message part that could not be sent. */
export type SendFailureDecision =
  | { readonly kind: 'retry'; readonly afterMs: number; readonly attempt: 'counts' | 'free' }
  | { readonly kind: 'give-up'; readonly state: 'failed' | 'unknown' };

/** `random` is in [0, 1). */
export interface FailureContext {
  readonly failure: ChannelFailure;
  /** The number of counted attempts before this one. */
  readonly attempts: number;
  /** Whether the part may be sent again even though it may have arrived. */
  readonly mayRepeat: boolean;
  readonly random: number;
}

const MAX_ATTEMPTS = 8;
const FIRST_BACKOFF_MS = 500;
const MAX_BACKOFF_MS = 60_000;
/**
 * The retry delay without a connection: a message part is never given up while the connection is
 * down.
 */
const UNTRIED_MS = 3_000;

/**
 * Decides whether a message part is tried again (D04, D05). Neither a rate limit nor a missing
 * connection counts as an attempt; a message part with an unknown outcome is sent again only if a
 * duplicate is harmless; a refusal is final.
 */
export function decideAfterFailure(facts: FailureContext): SendFailureDecision {
  const { failure } = facts;
  switch (failure.kind) {
    case 'rate-limited':
      return { kind: 'retry', afterMs: failure.retryAfterMs, attempt: 'free' };
    case 'transient':
      if (failure.untried)
        return { kind: 'retry', afterMs: jitterDelay(UNTRIED_MS, facts.random), attempt: 'free' };
      return retryPart(facts, 'failed');
    case 'unknown-outcome':
      return facts.mayRepeat ? retryPart(facts, 'unknown') : { kind: 'give-up', state: 'unknown' };
    case 'refused-format':
    case 'refused':
    case 'gone':
    case 'forbidden':
      return { kind: 'give-up', state: 'failed' };
  }
}

function retryPart(facts: FailureContext, otherwise: 'failed' | 'unknown'): SendFailureDecision {
  if (facts.attempts + 1 >= MAX_ATTEMPTS) return { kind: 'give-up', state: otherwise };
  const backoff = Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** facts.attempts);
  return { kind: 'retry', afterMs: jitterDelay(backoff, facts.random), attempt: 'counts' };
}

/**
 * A notice about a message part, sent in Markdown to the chat of that part. `⚙️` marks system
 * messages (G08).
 */
export interface PartNotice {
  readonly markdown: string;
  readonly buttons?: Button[];
}

/**
 * Sent when it is unknown whether a message part has arrived (D04). `key` is the part's idempotency
 * key. On platforms without buttons, the notice names a command.
 */
export function createUncertainNotice(key: string, hasButtons: boolean): PartNotice {
  const what =
    '⚙️ I was interrupted while sending a message, and cannot tell whether it arrived. If it is missing,';
  if (!hasButtons) return { markdown: `${what} \`/resend\` sends it again.` };
  const button: Button = {
    label: 'Send it again',
    data: `/resend ${key}`,
    style: 'primary',
  };
  return { markdown: `${what} I can send it again.`, buttons: [button] };
}

/** Whether the chat can still receive a notice about a failure. */
function canReportFailure(failure: ChannelFailure): boolean {
  return failure.kind !== 'gone' && failure.kind !== 'forbidden';
}

/** Sent when the platform permanently refused a message part. */
function createRefusedNotice(reason: string): PartNotice {
  return { markdown: `⚙️ A part of my answer could not be delivered: ${toLiteralMarkdown(reason)}` };
}

/** The services for a message part whose sending failed or was interrupted. */
export interface FailureDeps {
  readonly outbox: OutboxRepository;
  readonly capabilities: Pick<Capabilities, 'idempotentSend' | 'idempotentForMs' | 'buttons'>;
  /** What to do with a message part that may have arrived; `notify` when absent. */
  readonly whenUncertain?: 'notify' | 'resend' | undefined;
  readonly pacer: Pacer;
  /** Absent when the platform has no search. */
  readonly findSent?: ChannelAdapter['findSent'] | undefined;
  /** When absent, groups and topics that are closed to the bot are only logged. */
  readonly notifyOwner?: ((key: string, markdown: string) => Promise<void>) | undefined;
  readonly chatName?: ChannelAdapter['chatName'] | undefined;
  /** When absent, every part found in `sending` is uncertain after a crash. */
  readonly notes?: SendNotes | undefined;
  readonly log: Logger;
  readonly meter: Meter;
  readonly clock: Clock;
  readonly monotonic: Monotonic;
  readonly random: () => number;
}

/** Carries out the decision of `decideAfterFailure` about a message part whose send threw. */
export async function handleSendError(
  deps: FailureDeps,
  due: DuePart,
  thrown: unknown,
): Promise<void> {
  const { part } = due;
  const error = toChannelError(thrown);
  if (error !== thrown) deps.log.error({ part: part.id, reason: error.message }, 'adapter defect');
  const decision = decideAfterFailure({
    failure: error.failure,
    attempts: due.attempts,
    mayRepeat: canRepeatSend(deps, part, findEarliestArrival(due)),
    random: deps.random(),
  });
  if (decision.kind === 'retry') {
    const { afterMs, attempt } = decision;
    const { failure } = error;
    if (failure.kind === 'rate-limited') {
      const chat = failure.scope === 'account' ? undefined : part.route;
      deps.pacer.pause(deps.monotonic(), failure.retryAfterMs, chat);
    }
    const labels = { channel: part.route.channel, reason: failure.kind };
    deps.meter.count('parley_delivery_retries_total', labels);
    const { channel, account } = part.route;
    const away = failure.kind === 'transient' && { outage: `${channel}/${account}` };
    deps.log.warn(
      { ...away, part: part.id, afterMs, reason: error.message },
      'part will be sent again later',
    );
    await deps.outbox.retryLater(part.id, { now: deps.clock(), afterMs }, error.message, attempt);
    return;
  }
  const { state } = decision;
  const reason = error.message;
  const about = state === 'unknown' ? createPartNotice(deps, part) : createRefusedNotice(reason);
  const isOpen = canReportFailure(error.failure);
  // The rest of the answer cannot be delivered to this chat either.
  await failPart(deps, part, {
    ...{ state, reason, notice: isOpen && part.act === undefined ? about : null },
    scope: isOpen ? 'part' : 'answer',
  });
  if (!isOpen && part.route.chatType !== 'direct') await reportClosedChat(deps, part, error);
}

/**
 * Tells the owner about a group or topic that can no longer receive notices: it was deleted or
 * locked, or the bot was removed.
 */
async function reportClosedChat(
  { notifyOwner, chatName, log }: FailureDeps,
  { id, route: { channel, chatId, threadId } }: OutboundPart,
  { message: reason, failure }: ChannelError,
): Promise<void> {
  const place = [channel, chatId, ...(threadId === undefined ? [] : [threadId])].join(' ');
  try {
    const name = await chatName?.({ chatId, threadId });
    const where =
      name === undefined
        ? formatInlineCode(place)
        : `${toLiteralMarkdown(name)} (${formatInlineCode(place)})`;
    const text = `An answer could not be delivered to ${where}: ${toLiteralMarkdown(reason)}`;
    await notifyOwner?.(`closed ${place} ${failure.kind}`, text);
  } catch (error) {
    log.warn({ part: id, reason: reasonOf(error) }, 'could not notify the owner');
  }
}

interface PartFailureRecord {
  readonly state: 'failed' | 'unknown';
  readonly reason: string;
  /** Null when the chat cannot receive notices. */
  readonly notice: PartNotice | null;
  /** The scope of the failure; `part` when absent. */
  readonly scope?: 'part' | 'answer';
}

async function failPart(
  deps: FailureDeps,
  part: OutboundPart,
  ending: PartFailureRecord,
): Promise<void> {
  const { route } = part;
  const { state, reason, notice, scope } = ending;
  // A notice that fails must not trigger another notice.
  const ownNotice =
    part.noticeOf !== undefined || notice === null ? null : toNoticePart(notice, route);
  await deps.outbox.markFailed(part.id, state, reason, deps.clock(), ownNotice, scope);
  deps.meter.count('parley_outbox_parts_total', { channel: route.channel, state });
  deps.log.warn({ part: part.id, chat: route.chatId, state, reason }, 'part not delivered');
}

/** A notice is a single message, so it is not numbered. */
function toNoticePart({ markdown, buttons }: PartNotice, route: ReplyRoute): NewPart | null {
  const { numbered: _, ...target } = route.target;
  const [body] = render(markdown, target);
  return body === undefined ? null : { route, body, ...(buttons && { buttons }) };
}

function toChannelError(thrown: unknown): ChannelError {
  if (thrown instanceof ChannelError) return thrown;
  return new ChannelError({ kind: 'unknown-outcome' }, reasonOf(thrown), thrown);
}

/**
 * How long after its start a crashed process's request may still reach the platform, in ms. This is
 * an assumption: a network that delivers the request later makes the part appear twice.
 */
const UNDER_WAY_MS = 10_000;

/**
 * Handles a message part found in `sending`: the process that was sending it crashed, so the
 * platform may or may not have received the part. Returns the delay in ms until the outcome can be
 * decided, or 0 once it is decided.
 */
export async function recoverPart(deps: FailureDeps, due: DuePart): Promise<number> {
  const { part, sendingAt, attempts } = due;
  if (!(await deps.outbox.takeOver(part.id))) return 0;
  const note = deps.notes?.read({ partId: part.id, at: sendingAt ?? 0 });
  const reason = 'interrupted while sending';
  const sendAgain = async (attempt: 'counts' | 'free'): Promise<0> => {
    await deps.outbox.retryLater(part.id, { now: deps.clock(), afterMs: 0 }, reason, attempt);
    return 0;
  };
  if (note?.kind === 'marked') return sendAgain('free');
  // If the platform forgets keys, later attempts need the information that this attempt may have
  // arrived.
  if (canRepeatSend(deps, part, findEarliestArrival(due)))
    return sendAgain(deps.capabilities.idempotentForMs === undefined ? 'free' : 'counts');
  // Measured before the search, because a request may still arrive while the search runs.
  const left = UNDER_WAY_MS - Math.abs(deps.clock() - (sendingAt ?? 0));
  const found = note?.kind === 'arrived' ? note.platformMessageId : await findSentPart(deps, part);
  if (typeof found === 'string') {
    await deps.outbox.markSent(part.id, found, deps.clock());
    return 0;
  }
  if (found === null) return left > 0 ? left : sendAgain('free');
  // Without the notice, the chat might never learn that an answer is uncertain, so a notice
  // interrupted by a crash is sent a second time.
  if (part.noticeOf !== undefined && attempts === 0) return sendAgain('counts');
  await failPart(deps, part, { state: 'unknown', reason, notice: createPartNotice(deps, part) });
  return 0;
}

/**
 * The earliest time at which a part may have reached the platform, in ms since 1970. This is the
 * start of the current attempt if no earlier attempt failed (a rate limit is not a failure),
 * otherwise the start of the first attempt, because any failed attempt may have arrived. Undefined
 * when the part was never sent.
 */
function findEarliestArrival({ attempts, sendingAt, triedAt }: DuePart): number | undefined {
  return (attempts > 0 ? triedAt : sendingAt) ?? sendingAt ?? undefined;
}

/**
 * Whether an earlier attempt at a message part may have arrived and the platform may have forgotten
 * its key since, because the part waited for a rate limit or no process was running. Sending the
 * part again could then duplicate it.
 */
export function isIdempotencyExpired(deps: FailureDeps, due: DuePart): boolean {
  const { idempotentSend, idempotentForMs } = deps.capabilities;
  if (!idempotentSend || idempotentForMs === undefined || due.attempts === 0) return false;
  const since = findEarliestArrival(due);
  return since !== undefined && !canRepeatSend(deps, due.part, since);
}

/** Gives up a message part in `sending` when it is unknown whether an earlier attempt arrived. */
export async function failUncertainPart(deps: FailureDeps, { part }: DuePart): Promise<void> {
  const reason =
    'an earlier attempt may have arrived, and the platform would not recognize a repetition';
  await failPart(deps, part, { state: 'unknown', reason, notice: createPartNotice(deps, part) });
}

/**
 * Later parts wait for the search, so a slow search is treated like one without a result.
 */
const FIND_WITHIN_MS = 10_000;

async function findSentPart(
  deps: FailureDeps,
  part: OutboundPart,
): ReturnType<NonNullable<FailureDeps['findSent']>> {
  if (deps.findSent === undefined) return undefined;
  const before = await deps.outbox.before(part.id);
  try {
    return await deps.findSent(part, before, AbortSignal.timeout(FIND_WITHIN_MS));
  } catch (error) {
    deps.log.warn({ part: part.id, reason: reasonOf(error) }, 'could not search for a part');
    return undefined;
  }
}

/**
 * Whether a message part that may have arrived is sent again. Notices are not sent again: a channel
 * on which every outcome is unknown would otherwise flood its chats with them.
 */
export function canRepeatSend(
  { capabilities, whenUncertain, clock }: FailureDeps,
  part: OutboundPart,
  sentAt = clock(),
): boolean {
  const { idempotentSend, idempotentForMs = Number.POSITIVE_INFINITY } = capabilities;
  // When the clock was set back, the start of the send appears to be in the future, and its age is
  // unknown.
  const isKeyKnown = idempotentSend && Math.abs(clock() - sentAt) <= idempotentForMs;
  const isHarmless = isKeyKnown || part.act !== undefined;
  return isHarmless || (whenUncertain === 'resend' && part.noticeOf === undefined);
}

function createPartNotice(
  { capabilities }: FailureDeps,
  { idempotencyKey }: OutboundPart,
): PartNotice {
  return createUncertainNotice(idempotencyKey, capabilities.buttons);
}
