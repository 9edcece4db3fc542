// Lines that the watchdog's thread adds to the record of work. This module loads nothing, because whatever the thread
// loads stays in memory as long as the process.

/** The name of a function in the main thread that returns the number of the work which runs at this moment. */
export const WORK_HOOK = 'parley.work';

/** Asked of the main thread through the inspector: the number of its work, and where in the code it is, as JSON. */
export const WORK_IN_PROGRESS = `JSON.stringify({
  work: globalThis[Symbol.for('${WORK_HOOK}')]?.() ?? null,
  stack: String(new Error('stands still').stack).slice(0, 2000),
})`;

/** The event loop stands still. `answer`: what the main thread has answered; null: nothing so far. */
export function noteStall(answer: string | null): string {
  // The main thread may have been cut off in the middle of a line.
  return `\n${JSON.stringify(['still', answer])}\n`;
}

/** The event loop moves again. */
export function noteRecovery(): string {
  return `\n${JSON.stringify(['moves'])}\n`;
}
