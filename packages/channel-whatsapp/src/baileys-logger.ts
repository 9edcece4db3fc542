import type { Logger } from '@parley/contracts';
import type { SocketConfig } from '@whiskeysockets/baileys';

type LibraryLogger = SocketConfig['logger'];

/**
 * Baileys' notes without their facts, which hold keys, numbers and texts; digits in the words are
 * hidden as well. What it calls an error mends itself mostly, so all of it is for debugging.
 */
export function baileysLogger(log: Logger): LibraryLogger {
  const note = (facts: unknown, message?: string): void => {
    const words = message ?? (typeof facts === 'string' ? facts : '');
    if (words !== '') log.debug({}, `baileys: ${withoutNumbers(words)}`);
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
