import type { Logger } from '@parley/core';
import type { SocketConfig } from '@whiskeysockets/baileys';

/** Stack frames in libsignal, wherever it is installed. */
const LIBSIGNAL = /[/\\]node_modules[/\\](?:[^\n]*[/\\])?libsignal[/\\]/;
const METHODS = ['debug', 'info', 'log', 'warn', 'error'] as const;

/**
 * Drops libsignal's console output, because libsignal prints whole sessions, including private
 * keys. The output is recognized by the calling file. Must be called before Baileys is first
 * imported; `on` is for tests.
 * @returns a function that restores the console
 */
export function silenceLibsignal(on: Console = console): () => void {
  const before = METHODS.map((method) => [method, on[method]] as const);
  for (const [method, print] of before) {
    on[method] = (...values: unknown[]) => {
      if (!isCalledByLibsignal()) print.apply(on, values);
    };
  }
  return () => {
    for (const [method, print] of before) on[method] = print;
  };
}

/**
 * In the stack trace, line 0 is the error, line 1 this function, line 2 the wrapper and line 3 the
 * caller.
 */
function isCalledByLibsignal(): boolean {
  const frames = new Error('who prints').stack?.split('\n') ?? [];
  return LIBSIGNAL.test(frames[3] ?? '');
}

type LibraryLogger = SocketConfig['logger'];

/**
 * Baileys' log without its fields, because they contain keys, numbers and text. Digits in the log
 * messages are masked as well. All entries are logged at level debug, because Baileys recovers from
 * most of its errors.
 */
export function createBaileysLogger(log: Logger): LibraryLogger {
  const note = (fields: unknown, message?: string): void => {
    const text = message ?? (typeof fields === 'string' ? fields : '');
    if (text !== '') log.debug({}, `baileys: ${maskNumbers(text)}`);
  };
  const logger: LibraryLogger = {
    level: 'info',
    child: () => logger,
    trace() {},
    debug() {},
    info: note,
    warn: note,
    error: note,
  };
  return logger;
}

/** Replaces phone numbers and other ids with `…`. */
export function maskNumbers(text: string): string {
  return text.replace(/\d{6,}/g, '…');
}
