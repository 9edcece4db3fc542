import { Worker } from 'node:worker_threads';
import { ParleyError } from '../errors.ts';
import { resolveModuleUrl } from '../installation.ts';
import { type CheckedJson, checkJsonAnswer, type ResponseFormat } from './answer-check.ts';
import type { CheckRequest, ThreadMessage } from './check-thread.ts';
import type { JsonSchema } from './schema-risk.ts';

/**
 * Runs checks that a third-party schema or regular expression could make endless, in threads that
 * are terminated after a fixed time. A thread starts with the first check, is kept for the next
 * check, and ends after being idle for a while. All methods throw CheckError, or the abort reason
 * of `stop`.
 */
export interface CheckRunner {
  /** Whether a turn's answer is the requested JSON (P04). */
  checkAnswer(text: string, format: ResponseFormat, stop?: AbortSignal): Promise<CheckedJson>;
  /**
   * Resolves if checking the value against the schema completes in time, for a matching and for an
   * invalid value.
   */
  tryValue(value: unknown, schema: JsonSchema, stop?: AbortSignal): Promise<void>;
  /** Returns which of the patterns match. */
  testPatterns(
    patterns: readonly RegExp[],
    text: string,
    stop?: AbortSignal,
  ): Promise<readonly boolean[]>;
}

export interface CheckRunnerOptions {
  /** The timeout of one check, in ms; 2 s when absent. */
  readonly timeoutMs?: number;
  /** How long an idle thread is kept, in ms; 30 s when absent. */
  readonly idleMs?: number;
}

const TIMEOUT_MS = 2_000;
/**
 * The maximum processor time for a value, in ms: the event loop validates the value again, several
 * times per call.
 */
const MAX_VALUE_MS = 300;
const IDLE_MS = 30_000;
/** The deadline for starting a thread, which takes a fraction of a second on a working machine. */
const START_MS = 15_000;
/**
 * The number of concurrent threads. Other checks wait, so that slow ones do not occupy every core.
 */
const MAX_THREADS = 2;
/** Memory for the thread's own objects, in megabytes. */
const MEMORY = { maxOldGenerationSizeMb: 128 };
const SOURCE = new URL('./check-thread.ts', import.meta.url);

/**
 * `check-timeout`: the check took too long. `check-failed`: the check could not run, or used too
 * much memory.
 */
export class CheckError extends ParleyError {
  constructor(code: 'check-timeout' | 'check-failed', message: string) {
    super({ code, message, retryable: false });
  }
}

interface CheckJob {
  readonly order: CheckRequest;
  readonly timeoutMs: number;
  readonly settle: (result: ThreadMessage | Error) => void;
}

interface CheckThread {
  readonly worker: Worker;
  isReady: boolean;
  job: CheckJob | null;
  timer: NodeJS.Timeout | undefined;
}

/** Creates a runner; its first check starts its first thread. */
export function createCheckRunner(options: CheckRunnerOptions = {}): CheckRunner {
  const { timeoutMs = TIMEOUT_MS } = options;
  const submit = createCheckThreads(options.idleMs ?? IDLE_MS);
  return {
    async checkAnswer(text, format, stop) {
      // Any object matches, so the check does not involve a third-party schema.
      if (format === 'json') return checkJsonAnswer(text, format);
      const said = await submit({ kind: 'answer', text, format }, timeoutMs, stop);
      if (said.kind !== 'answer') throw toCheckError(said);
      return said.result;
    },
    async tryValue(value, schema, stop) {
      const said = await submit({ kind: 'value', value, schema }, timeoutMs, stop);
      if (said.kind !== 'value') throw toCheckError(said);
      if (said.ms > MAX_VALUE_MS) throw createTimeoutError(MAX_VALUE_MS);
    },
    async testPatterns(patterns, text, stop) {
      const said = await submit({ kind: 'patterns', patterns, text }, timeoutMs, stop);
      if (said.kind !== 'patterns') throw toCheckError(said);
      return said.matches;
    },
  };
}

function toCheckError(said: ThreadMessage): CheckError {
  const reason = said.kind === 'failed' ? said.reason : `it answered with ${said.kind}`;
  return new CheckError('check-failed', `The check cannot be run: ${reason}.`);
}

type SubmitCheck = (
  order: CheckRequest,
  timeoutMs: number,
  stop?: AbortSignal,
) => Promise<ThreadMessage>;

function createCheckThreads(idleMs: number): SubmitCheck {
  const threads = new Set<CheckThread>();
  const waiting: CheckJob[] = [];

  const end = (thread: CheckThread, why: Error): void => {
    if (!threads.delete(thread)) return;
    clearTimeout(thread.timer);
    void thread.worker.terminate();
    thread.job?.settle(why);
    thread.job = null;
    assign();
  };

  const start = (): CheckThread => {
    const worker = new Worker(resolveModuleUrl('check-thread', SOURCE), {
      name: 'parley-check',
      resourceLimits: MEMORY,
    });
    const thread: CheckThread = { worker, isReady: false, job: null, timer: undefined };
    threads.add(thread);
    worker.on('message', (message: ThreadMessage) => {
      // A result may arrive after its thread was terminated.
      if (!threads.has(thread)) return;
      if (message.kind === 'ready') thread.isReady = true;
      else {
        thread.job?.settle(message);
        thread.job = null;
      }
      carryOn(thread);
    });
    worker.on('error', (cause) => end(thread, createCrashError(cause.message)));
    worker.on('exit', () => end(thread, createCrashError('its thread ended')));
    return thread;
  };

  /**
   * Posts the next order to a thread and starts its timeout; if there is no order, the thread stays
   * idle for a while.
   */
  const carryOn = (thread: CheckThread): void => {
    clearTimeout(thread.timer);
    thread.job ??= waiting.shift() ?? null;
    const { job, worker } = thread;
    if (job === null) {
      worker.unref();
      const retire = (): void => end(thread, createCrashError('its thread ended'));
      thread.timer = setTimeout(retire, idleMs).unref();
      return;
    }
    worker.ref();
    const ms = thread.isReady ? job.timeoutMs : START_MS;
    thread.timer = setTimeout(() => end(thread, createTimeoutError(ms)), ms);
    if (thread.isReady) worker.postMessage(job.order);
  };

  const assign = (): void => {
    while (waiting.length > 0) {
      const free = [...threads].find(({ job }) => job === null);
      if (free === undefined && threads.size >= MAX_THREADS) return;
      carryOn(free ?? start());
    }
  };

  return async (order, timeoutMs, stop) => {
    stop?.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<ThreadMessage>();
    const settle = (result: ThreadMessage | Error): void => {
      if (result instanceof Error) reject(result);
      else resolve(result);
    };
    const job: CheckJob = { order, timeoutMs, settle };
    const cancel = (): void => {
      const running = [...threads].find((thread) => thread.job === job);
      const place = waiting.indexOf(job);
      if (place !== -1) waiting.splice(place, 1);
      reject(stop?.reason);
      if (running !== undefined) end(running, createCrashError('it was stopped'));
    };
    stop?.addEventListener('abort', cancel, { once: true });
    waiting.push(job);
    assign();
    return promise.finally(() => stop?.removeEventListener('abort', cancel));
  };
}

function createCrashError(reason: string): CheckError {
  return new CheckError(
    'check-failed',
    `The check used too much memory or could not run: ${reason}.`,
  );
}

function createTimeoutError(ms: number): CheckError {
  return new CheckError(
    'check-timeout',
    `The check took longer than ${ms / 1_000} s and was terminated.`,
  );
}
