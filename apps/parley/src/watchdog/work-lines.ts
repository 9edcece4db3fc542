// The lines that the watchdog's thread writes into the record. This module does not import other
// modules, because everything that the thread loads stays in memory for the life of the process.

/** The name of a global function in the main thread that returns the number of the running work. */
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
 * Formats the line for a blocked event loop. `answer` is the main thread's answer, or null if it
 * has not answered yet.
 */
export function formatStallNote(answer: string | null): string {
  // The leading line break is needed if the main thread was interrupted in the middle of a line.
  return `\n${JSON.stringify(['still', answer])}\n`;
}

/** Formats the line for an event loop that is running again. */
export function formatRecoveryNote(): string {
  return `\n${JSON.stringify(['moves'])}\n`;
}
