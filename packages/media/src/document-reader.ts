import { Worker } from 'node:worker_threads';
import type { DocumentLimits, DocumentText } from './document-text.ts';
import { refused } from './document-text.ts';
import type { ThreadOrder } from './document-thread.ts';

/** Reads one document. Never rejects: what cannot be read is refused. Ends early with the signal. */
export type ReadDocument = (
  bytes: Uint8Array,
  limits: DocumentLimits,
  signal: AbortSignal,
) => Promise<DocumentText>;

/** How documents are read. */
export interface DocumentReaderOptions {
  /** Longest time for one document, in ms. */
  readonly timeoutMs?: number;
  /** How many are read at the same time; the others wait. */
  readonly atOnce?: number;
}

const TIMEOUT_MS = 20_000;
const AT_ONCE = 2;
/** Of the thread's own objects; a file that needs more ends its thread and nothing else. */
const MEMORY = { maxOldGenerationSizeMb: 256 };

/**
 * Makes a reader that gives each document a thread of its own: a hostile file can be stopped in the
 * middle of a loop, cannot take the process with it, and the libraries' memory is free afterwards.
 */
export function createDocumentReader(options: DocumentReaderOptions = {}): ReadDocument {
  const { timeoutMs = TIMEOUT_MS, atOnce = AT_ONCE } = options;
  const waiting: (() => void)[] = [];
  let free = atOnce;
  return async (bytes, limits, signal) => {
    if (free === 0) await new Promise<void>((resolve) => waiting.push(resolve));
    else free -= 1;
    try {
      return await readInThread({ bytes, limits }, timeoutMs, signal);
    } finally {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    }
  };
}

function readInThread(
  order: ThreadOrder,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<DocumentText> {
  if (signal.aborted) return Promise.resolve(refused(STOPPED));
  const { promise, resolve } = Promise.withResolvers<DocumentText>();
  const thread = new Worker(new URL('./document-thread.ts', import.meta.url), {
    workerData: order,
    resourceLimits: MEMORY,
    // What libraries print about a file is nobody's business.
    stdout: true,
    stderr: true,
  });
  const stop = (): void => resolve(refused(STOPPED));
  const seconds = timeoutMs / 1_000;
  const timer = setTimeout(
    () => resolve(refused(`reading it took longer than ${seconds} seconds`)),
    timeoutMs,
  );
  signal.addEventListener('abort', stop, { once: true });
  thread.once('message', resolve);
  thread.on('error', () => resolve(refused('reading it took too much memory, or it is damaged')));
  thread.once('exit', () => resolve(refused('reading it ended without a result')));
  return promise.finally(() => {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
    void thread.terminate();
  });
}

const STOPPED = 'reading it was stopped';
