import { appendFileSync, writeSync } from 'node:fs';
import { type Runtime, Session } from 'node:inspector';
import { workerData } from 'node:worker_threads';
import { computeStallLimits, decideAfterCheck, type WatchdogState } from './stall.ts';
import type { WatchdogInput } from './watchdog.ts';
import { formatRecoveryNote, formatStallNote, WORK_IN_PROGRESS } from './work-lines.ts';

// Runs in a separate thread, because a blocked event loop cannot detect that it is blocked. While
// the main thread is blocked, the thread writes to the process's record and then ends the process.
// The next start reads these lines.

const { shared, path }: WatchdogInput = workerData;
const numbers = new Int32Array(shared);
const [BEATS, LIMIT_MS] = [0, 1];

let watched: WatchdogState = { beats: -1, stillMs: 0, isNoted: false };
let lookedAt = performance.now();

setInterval(checkBeats, computeStallLimits(Atomics.load(numbers, LIMIT_MS)).tickMs);

function checkBeats(): void {
  const now = performance.now();
  const seen = { beats: Atomics.load(numbers, BEATS), sinceLastMs: now - lookedAt };
  lookedAt = now;
  const { watched: next, verdict } = decideAfterCheck(
    watched,
    seen,
    computeStallLimits(Atomics.load(numbers, LIMIT_MS)),
  );
  watched = next;
  if (verdict === 'note') recordStalledWork();
  if (verdict === 'recovered') appendRecordLine(formatRecoveryNote());
  if (verdict === 'end') endProcess();
}

/**
 * Records the stall, and then the work that the main thread is running. V8 answers an inspector in
 * the middle of a loop and in most regular expressions, but not in native code such as a
 * synchronous child process.
 */
function recordStalledWork(): void {
  appendRecordLine(formatStallNote(null));
  const session = new Session();
  session.connectToMainThread();
  const question = { expression: WORK_IN_PROGRESS, returnByValue: true };
  const onAnswer = (_error: Error | null, answer?: Runtime.EvaluateReturnType): void => {
    session.disconnect();
    const value: unknown = answer?.result.value;
    if (typeof value === 'string') appendRecordLine(formatStallNote(value));
  };
  session.post('Runtime.evaluate', question, onAnswer);
}

function endProcess(): never {
  const seconds = Math.round(watched.stillMs / 1_000);
  try {
    writeSync(
      2,
      `Parley was blocked for ${seconds} s, so its watchdog ends this process. The next start reports what it was doing and continues.\n`,
    );
  } catch {
    // Standard error is closed, or its reader is blocked as well.
  }
  process.kill(process.pid, 'SIGKILL');
  throw new Error('The watchdog failed to end this process.');
}

function appendRecordLine(line: string): void {
  if (path === null) return;
  try {
    appendFileSync(path, line);
  } catch {
    // If the disk is full, the process is ended without a record of the stall.
  }
}
