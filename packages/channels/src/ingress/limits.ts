import { hash } from 'node:crypto';
import { BoundedMap, type InboundMessage, type Monotonic } from '@parley/core';
import type { InboxRepository } from '@parley/store';

/** Limits the number of messages waiting in all conversations, as counted by one account (D07). */
export interface BacklogLimit {
  /**
   * `room`: one more message of this person may wait, and `release` must be called afterwards.
   * `share`: this person has used up their share, but others may still add messages.
   */
  reserve(from: WaitingSender): Promise<'room' | 'share' | 'full'>;
  /** `stays`: the message was stored and is waiting now. */
  release(from: WaitingSender, stays: boolean): void;
}

interface WaitingSender {
  /** `telegram:42`. */
  readonly person: string;
  readonly isOwner: boolean;
}

/** The share of all slots that is reserved for owners: the last tenth. */
const OWNERS_SHARE = 0.1;
/** Once this share is used, each person may take only part of the remaining slots. */
const CROWDED = 0.5;
const PERSONS_SHARE = 0.1;
const MAX_PERSONS = 10_000;

/** Between two queries, only messages of this account are counted. */
const COUNT_INTERVAL_MS = 1_000;
/**
 * The query interval while the limit is reached, so that a flood does not cost a query per message.
 */
const FULL_COUNT_INTERVAL_MS = 50;

/**
 * Queries the number of waiting messages at most once a second, and more often only at the limit.
 */
export function createBacklogLimit(
  inbox: Pick<InboxRepository, 'totalWaiting'>,
  /** The current setting. */
  limit: () => number,
  monotonic: Monotonic,
): BacklogLimit {
  let known = 0;
  let since = 0;
  let entering = 0;
  let countedAt = Number.NEGATIVE_INFINITY;
  let counting: Promise<void> | null = null;
  /** The number of messages from each person since `CROWDED` was reached. */
  const taken = new BoundedMap<string, number>(MAX_PERSONS);
  const waiting = (): number => known + since + entering;
  const isFull = (isOwner: boolean): boolean =>
    waiting() >= limit() - (isOwner ? 0 : Math.floor(limit() * OWNERS_SHARE));
  /** Whether one person has used up their share of the remaining slots. */
  const hasShare = ({ person, isOwner }: WaitingSender): boolean => {
    if (waiting() < limit() * CROWDED) {
      taken.clear();
      return false;
    }
    return (
      !isOwner && (taken.get(findShareHolder(person)) ?? 0) >= Math.ceil(limit() * PERSONS_SHARE)
    );
  };
  const count = async (): Promise<void> => {
    const counted = since;
    known = await inbox.totalWaiting();
    since -= counted;
    countedAt = monotonic();
  };
  return {
    async reserve(from) {
      const age = monotonic() - countedAt;
      if (age >= COUNT_INTERVAL_MS || (isFull(from.isOwner) && age >= FULL_COUNT_INTERVAL_MS)) {
        counting ??= count().finally(() => {
          counting = null;
        });
        await counting;
      }
      if (isFull(from.isOwner)) return 'full';
      if (hasShare(from)) return 'share';
      entering += 1;
      return 'room';
    },
    release({ person }, stays) {
      entering -= 1;
      if (!stays) return;
      since += 1;
      if (waiting() <= limit() * CROWDED) return;
      const holder = findShareHolder(person);
      taken.set(holder, (taken.get(holder) ?? 0) + 1);
    },
  };
}

/**
 * The person or client whose share a message counts towards. The people behind an API client
 * (`api:client/person`) are named by the client, so they share its limit.
 */
function findShareHolder(person: string): string {
  return person.startsWith('api:') ? (person.split('/')[0] ?? person) : person;
}

/**
 * A message that a sender repeated verbatim, and the number of repetitions. The text is not stored,
 * only its hash.
 */
export interface Repetition {
  readonly digest: string;
  /** The last message with this text; a redelivery of it does not count. */
  readonly messageId: string;
  readonly count: number;
  readonly at: number;
}

/** An automatic reply arrives within this time, in ms. */
const MAX_GAP_MS = 60_000;
/**
 * People do not type the same sentence this often; text that people repeat ("next", "yes") is
 * shorter.
 */
const MAX_REPEATS = 5;
const MIN_SENTENCE_CHARACTERS = 20;

/** Counts one more message of a sender. Pure. Times in ms. */
export function countRepetition(
  before: Repetition | undefined,
  { digest, messageId }: Pick<Repetition, 'digest' | 'messageId'>,
  now: number,
): Repetition {
  if (before?.messageId === messageId) return before;
  const again = before?.digest === digest && now - before.at <= MAX_GAP_MS;
  return { digest, messageId, count: again ? before.count + 1 : 1, at: now };
}

/**
 * Whether a sender behaves like a machine: the same sentence more than five times in a row. Ends
 * loops with automatic replies on platforms that do not mark bots (F07); an automatic reply with
 * varying text is not recognized. Counts are held in memory for a bounded number of senders.
 */
export function createLoopGuard(
  monotonic: Monotonic,
  capacity = 1_000,
): (message: InboundMessage) => boolean {
  const senders = new BoundedMap<string, Repetition>(capacity);
  return ({ chat, messageId, sender, text, replaces }) => {
    // A person who asks the same question again sends the same text.
    if (text.length < MIN_SENTENCE_CHARACTERS || replaces !== undefined) return false;
    const key = JSON.stringify([chat.id, chat.threadId, sender.id]);
    const said = { digest: hash('sha256', text), messageId };
    const next = countRepetition(senders.get(key), said, monotonic());
    senders.set(key, next);
    return next.count > MAX_REPEATS;
  };
}

/** True once per key and interval, because repeated explanations are spam. */
export function createIntervalGate(
  intervalMs: number,
  monotonic: Monotonic,
  capacity = 1_000,
): (key: string) => boolean {
  const last = new BoundedMap<string, number>(capacity);
  return (key) => {
    const now = monotonic();
    const before = last.get(key);
    if (before !== undefined && now - before < intervalMs) return false;
    last.set(key, now);
    return true;
  };
}
