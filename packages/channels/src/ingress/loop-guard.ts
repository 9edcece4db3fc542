import { hash } from 'node:crypto';
import { BoundedMap, type Clock, type InboundMessage } from '@parley/core';

/** How often a sender just repeated a message, verbatim. The text itself is not kept. */
export interface Repetition {
  readonly digest: string;
  /** The last message with this text; one that arrives again counts once. */
  readonly messageId: string;
  readonly count: number;
  readonly at: number;
}

/** An automatic reply answers within this time, in ms. */
const AT_MOST_APART_MS = 60_000;
/** People do not type a sentence this often; what they do repeat ("next", "yes") is shorter. */
const OFTEN = 5;
const SENTENCE_CHARACTERS = 20;

/** What is known of a sender after one more message. Pure. Times in ms. */
export function repetitionAfter(
  before: Repetition | undefined,
  { digest, messageId }: Pick<Repetition, 'digest' | 'messageId'>,
  now: number,
): Repetition {
  if (before?.messageId === messageId) return before;
  const again = before?.digest === digest && now - before.at <= AT_MOST_APART_MS;
  return { digest, messageId, count: again ? before.count + 1 : 1, at: now };
}

/**
 * Whether a sender answers like a machine: the same sentence more than five times in a row. Ends loops
 * with automatic replies where the platform does not mark bots (F07); what answers in ever new
 * words it cannot know. Remembered in memory, for a bounded number of senders.
 */
export function createLoopGuard(
  clock: Clock,
  capacity = 1_000,
): (message: InboundMessage) => boolean {
  const senders = new BoundedMap<string, Repetition>(capacity);
  return ({ chat, messageId, sender, text }) => {
    if (text.length < SENTENCE_CHARACTERS) return false;
    const key = JSON.stringify([chat.id, chat.threadId, sender.id]);
    const said = { digest: hash('sha256', text), messageId };
    const next = repetitionAfter(senders.get(key), said, clock());
    senders.set(key, next);
    return next.count > OFTEN;
  };
}
