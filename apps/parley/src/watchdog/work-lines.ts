// The lines that the watchdog's thread adds to the record. This module imports nothing, because
// whatever the thread loads stays in memory as long as the process.

/**
 * The name of a global function in the main thread that returns the number of the work currently
 * running.
 */
export const WORK_HOOK = 'parley.work';

/**
 * Evaluated in the main thread through the inspector: returns the number of its work and its stack
 * trace, as JSON.
 */
export const WORK_IN_PROGRESS = `JSON.stringify({
  work: globalThis[Symbol.for('${WORK_HOOK}')]?.() ?? null,
  stack: String(new Error('stands still').stack).slice(0, 2000),
})`;

/**
 * The line for a blocked event loop. `answer` is the main thread's answer, or null if there is
 * none yet.
 */
export function formatStallNote(answer: string | null): string {
  // The main thread may have been interrupted in the middle of a line.
  return `\n${JSON.stringify(['still', answer])}\n`;
}

/** The line for an event loop that runs again. */
export function formatRecoveryNote(): string {
  return `\n${JSON.stringify(['moves'])}\n`;
}
