import type { Logger } from '@parley/core';
import type { SocketConfig } from '@whiskeysockets/baileys';

/** Stack frames of libsignal, wherever it is installed. */
const LIBSIGNAL = /[/\\]node_modules[/\\](?:[^\n]*[/\\])?libsignal[/\\]/;
const METHODS = ['debug', 'info', 'log', 'warn', 'error'] as const;

/**
 * libsignal prints whole sessions, private keys included, to the console. This drops its output, which is
 * recognised by the caller. Call it before Baileys is first imported; `on` is for tests.
 * @returns restores the console
 */
export function quietLibsignal(on: Console = console): () => void {
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

/** Line 0 names the error, 1 is this function, 2 the wrapper, 3 the caller. */
function isCalledByLibsignal(): boolean {
  const frames = new Error('who prints').stack?.split('\n') ?? [];
  return LIBSIGNAL.test(frames[3] ?? '');
}

type LibraryLogger = SocketConfig['logger'];

/**
 * Baileys' log without its fields, which hold keys, numbers and texts; digits in the messages are hidden
 * as well. Most of its errors recover by themselves, so all of it has the level debug.
 */
export function baileysLogger(log: Logger): LibraryLogger {
  const note = (fields: unknown, message?: string): void => {
    const text = message ?? (typeof fields === 'string' ? fields : '');
    if (text !== '') log.debug({}, `baileys: ${withoutNumbers(text)}`);
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

/** Phone numbers and other ids become `…`. */
export function withoutNumbers(text: string): string {
  return text.replace(/\d{6,}/g, '…');
}
