// The record lines that the watchdog's thread writes. This module imports no other module, because
// everything the thread loads stays in memory as long as the process runs.

/**
 * The name of a global function in the main thread that returns the number of the work that is
 * running.
 */
export const WORK_HOOK = 'parley.work';

/**
 * The expression that the inspector evaluates in the main thread. The expression returns the number
 * of the running work and the stack trace as JSON.
 */
export const WORK_IN_PROGRESS = `JSON.stringify({
  work: globalThis[Symbol.for('${WORK_HOOK}')]?.() ?? null,
  stack: String(new Error('stands still').stack).slice(0, 2000),
})`;

/**
 * Formats the line for a blocked event loop. `answer` is the answer of the main thread, or null if
 * it has not answered yet.
 */
export function formatStallNote(answer: string | null): string {
  // The leading line break is needed if the main thread was interrupted in the middle of a line.
  return `\n${JSON.stringify(['still', answer])}\n`;
}

/** Formats the line for an event loop that runs again. */
export function formatRecoveryNote(): string {
  return `\n${JSON.stringify(['moves'])}\n`;
}
