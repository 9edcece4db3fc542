import type { Monotonic } from '@parley/core';

/**
 * The kind of queue for a document; `slow` is for documents that exceed the short first attempt.
 */
export type QueueLane = 'quick' | 'slow';

/** A slot for reading a document, which must be released, or the reason for a refusal. */
type QueueSlot =
  | { readonly kind: 'go'; leave(): void }
  | { readonly kind: 'refused'; readonly reason: string };

export interface QueueLimits {
  /**
   * The number of concurrent documents; at most all but one of these slots are used for slow
   * documents.
   */
  readonly atOnce: number;
  /** The maximum number of waiting documents from all senders together. */
  readonly mostWaiting: number;
  /** The longest time a document may wait, in ms. */
  readonly waitMs: number;
}

/** A queue in which no sender waits for more than one document from each other sender. */
export interface FairQueue {
  enter(sender: string, lane: QueueLane, signal: AbortSignal): Promise<QueueSlot>;
}

interface WaitingDocument {
  readonly lane: QueueLane;
  admit(): void;
}

const BUSY = 'too many documents are being read at the moment; send it again in a few minutes';
export const STOPPED = 'reading it was stopped';

/**
 * The queue alternates between senders and reads one document from each at a time. Slow documents
 * never take the last slot, so that a short document waits only for other short ones (G19).
 */
export function createFairQueue({ atOnce, mostWaiting, waitMs }: QueueLimits): FairQueue {
  const waiting = new Map<string, WaitingDocument[]>();
  const running = new Map<string, QueueLane>();
  // When each waiting or active sender was last given a slot; all other senders count as never
  // served.
  const served = new Map<string, number>();
  let turns = 0;
  let size = 0;

  const isFree = (lane: QueueLane): boolean => {
    if (running.size >= atOnce) return false;
    const slow = [...running.values()].filter((one) => one === 'slow').length;
    return lane === 'quick' || slow < Math.max(atOnce - 1, 1);
  };
  const remove = (sender: string, document: WaitingDocument): void => {
    const left = (waiting.get(sender) ?? []).filter((one) => one !== document);
    if (left.length > 0) waiting.set(sender, left);
    else waiting.delete(sender);
    size -= 1;
  };
  const forget = (sender: string): void => {
    if (!waiting.has(sender) && !running.has(sender)) served.delete(sender);
  };
  const admitNext = (): void => {
    const [next] = [...waiting]
      .flatMap(([sender, [first]]) => (first === undefined ? [] : [{ sender, first }]))
      .filter(({ sender, first }) => !running.has(sender) && isFree(first.lane))
      .toSorted((one, other) => lastTurn(one.sender) - lastTurn(other.sender));
    if (next === undefined) return;
    const { sender, first } = next;
    remove(sender, first);
    running.set(sender, first.lane);
    turns += 1;
    served.set(sender, turns);
    first.admit();
    admitNext();
  };
  const lastTurn = (sender: string): number => served.get(sender) ?? 0;
  return {
    enter(sender, lane, signal) {
      if (signal.aborted) return Promise.resolve({ kind: 'refused', reason: STOPPED });
      if (size >= mostWaiting) return Promise.resolve({ kind: 'refused', reason: BUSY });
      const { promise, resolve } = Promise.withResolvers<QueueSlot>();
      const giveUp = (reason: string): void => {
        remove(sender, document);
        forget(sender);
        resolve({ kind: 'refused', reason });
      };
      const stop = (): void => giveUp(STOPPED);
      const timer = setTimeout(() => giveUp(BUSY), waitMs);
      const leave = (): void => {
        running.delete(sender);
        forget(sender);
        admitNext();
      };
      const document: WaitingDocument = { lane, admit: () => resolve({ kind: 'go', leave }) };
      signal.addEventListener('abort', stop, { once: true });
      waiting.set(sender, [...(waiting.get(sender) ?? []), document]);
      size += 1;
      admitNext();
      return promise.finally(() => {
        clearTimeout(timer);
        signal.removeEventListener('abort', stop);
      });
    },
  };
}

/** Tracks the senders whose documents exceeded limits, and the length of their pauses. */
export interface SenderPauses {
  /** The remaining pause of a sender, in ms; 0 if the sender is not paused. */
  left(sender: string): number;
  /** Whether a document from this sender exceeded a limit recently. */
  isSuspect(sender: string): boolean;
  /** Records a document that exceeded a limit; the pause doubles each time. */
  begin(sender: string): void;
}

/** The first and the longest pause, in ms. */
const FIRST_REST_MS = 10_000;
const MAX_REST_MS = 10 * 60_000;
/** After this time without another such document, a sender's count is reset, in ms. */
const FORGET_MS = 60 * 60_000;
/** The maximum number of senders that are remembered; the oldest are forgotten first. */
const MAX_SENDERS = 1_000;

export function createSenderPauses(monotonic: Monotonic): SenderPauses {
  const senders = new Map<string, { readonly strikes: number; readonly since: number }>();
  const of = (sender: string) => {
    const found = senders.get(sender);
    return found !== undefined && monotonic() - found.since < FORGET_MS ? found : null;
  };
  return {
    left(sender) {
      const found = of(sender);
      if (found === null) return 0;
      const rest = Math.min(FIRST_REST_MS * 2 ** (found.strikes - 1), MAX_REST_MS);
      return Math.max(found.since + rest - monotonic(), 0);
    },
    isSuspect: (sender) => of(sender) !== null,
    begin(sender) {
      const strikes = (of(sender)?.strikes ?? 0) + 1;
      senders.delete(sender);
      senders.set(sender, { strikes, since: monotonic() });
      const [oldest] = senders.keys();
      if (senders.size > MAX_SENDERS && oldest !== undefined) senders.delete(oldest);
    },
  };
}
