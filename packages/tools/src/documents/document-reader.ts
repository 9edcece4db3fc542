import { type Monotonic, systemTime } from '@parley/core';
import { type DocumentText, refuseDocument } from './document-text.ts';
import {
  createFairQueue,
  createSenderPauses,
  type FairQueue,
  type QueueLane,
  STOPPED,
} from './fair-queue.ts';
import type { ProcessLimits, ProcessOutcome } from './read-in-process.ts';

export interface DocumentRequest {
  /** A string that identifies the sender; documents are scheduled fairly among senders. */
  readonly sender: string;
  /**
   * The requested part of the document's text, in characters (UTF-16 units): the offset (0 when
   * absent) and the count.
   */
  readonly from?: number;
  readonly characters: number;
  /**
   * Fetches the document when its turn comes, so that a waiting document takes no memory; null if
   * it is no longer kept.
   */
  load(): Promise<Uint8Array | null>;
}

/** Rejects only if `load` rejects; a document that cannot be read is returned as refused. */
export type ReadDocument = (request: DocumentRequest, signal: AbortSignal) => Promise<DocumentText>;

export interface DocumentReaderOptions {
  /** The number of documents read concurrently; further documents wait. */
  readonly atOnce?: number;
  /** The slots shared with other readers that start processes; a separate set if absent. */
  readonly queue?: FairQueue;
  /** The maximum resident memory of the process that reads a document, in bytes. */
  readonly memoryBytes?: number;
  /**
   * The time limits of the first attempt, and of the second one for documents that need longer, in
   * ms.
   */
  readonly quickMs?: number;
  readonly slowMs?: number;
  /** The clock that measures pauses, in ms. */
  readonly monotonic?: Monotonic;
  /** Called when a process has ended. */
  readonly onProcess?: (outcome: ProcessOutcome<DocumentText>) => void;
}

const AT_ONCE = 2;
const DEFAULTS = { memoryBytes: 150_000_000, quickMs: 3_000, slowMs: 15_000 };
const WAITING = { mostWaiting: 100, waitMs: 60_000 };

/** The slots for processes that read received files (G19). */
export function createReaderQueue(atOnce = AT_ONCE): FairQueue {
  return createFairQueue({ atOnce, ...WAITING });
}

/**
 * Creates a reader that reads each document in a separate process with limits on memory and time,
 * and alternates between senders (G19). A document that exceeds the first attempt is restarted in
 * the queue for slow documents. A sender whose document exceeds a limit is paused for a while.
 */
export function createDocumentReader(options: DocumentReaderOptions = {}): ReadDocument {
  const { monotonic = systemTime.monotonic, onProcess, atOnce, ...bounds } = options;
  const {
    queue = createReaderQueue(atOnce),
    memoryBytes,
    quickMs,
    slowMs,
  } = { ...DEFAULTS, ...bounds };
  const rests = createSenderPauses(monotonic);
  const limits: Readonly<Record<QueueLane, ProcessLimits>> = {
    quick: { memoryBytes, timeoutMs: quickMs },
    slow: { memoryBytes, timeoutMs: slowMs },
  };
  const tryIn = async (lane: QueueLane, request: DocumentRequest, signal: AbortSignal) => {
    const { sender } = request;
    if (rests.left(sender) > 0) return refuseDocument(formatWaitTime(rests.left(sender)));
    const entry = await queue.enter(sender, lane, signal);
    if (entry.kind === 'refused') return refuseDocument(entry.reason);
    try {
      // While this document waited, another document from the same sender may have exceeded a
      // limit.
      if (rests.left(sender) > 0) return refuseDocument(formatWaitTime(rests.left(sender)));
      const bytes = await request.load();
      if (bytes === null) return refuseDocument('it is no longer kept');
      const { from = 0, characters } = request;
      // Loaded here, because most installations run for days without receiving a document.
      const { DOCUMENTS, getMaxOutputBytes, readInProcess } = await import('./read-in-process.ts');
      const order = {
        bytes,
        numbers: [from, characters],
        mostBytes: getMaxOutputBytes(characters),
      };
      const outcome = await readInProcess(DOCUMENTS, { ...order, limits: limits[lane], signal });
      onProcess?.(outcome);
      if (outcome.kind === 'read') return outcome.result;
      if (outcome.why === 'stopped') return refuseDocument(STOPPED);
      if (outcome.why === 'time' && lane === 'quick') return null;
      rests.begin(sender);
      return refuseDocument(describeProcessFailure(outcome.why, limits[lane]));
    } finally {
      entry.leave();
    }
  };
  return async (request, signal) => {
    const first = rests.isSuspect(request.sender) ? 'slow' : 'quick';
    const read = await tryIn(first, request, signal);
    return read ?? (await tryIn('slow', request, signal)) ?? refuseDocument(STOPPED);
  };
}

function describeProcessFailure(
  why: 'memory' | 'time' | 'crash',
  { memoryBytes, timeoutMs }: ProcessLimits,
): string {
  switch (why) {
    case 'memory':
      return `it takes more than ${memoryBytes / 1_000_000} MB of memory when it is unpacked`;
    case 'time':
      return `reading it took longer than ${timeoutMs / 1_000} seconds`;
    case 'crash':
      return 'it is damaged, or made to break the program that reads it';
  }
}

function formatWaitTime(ms: number): string {
  const seconds = Math.ceil(ms / 1_000);
  const time = seconds < 120 ? `${seconds} seconds` : `${Math.ceil(seconds / 60)} minutes`;
  return `a document before it took too much time or memory, and I read the next one from the same person in ${time}; send it again then`;
}
