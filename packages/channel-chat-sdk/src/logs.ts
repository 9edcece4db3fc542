import { type Logger, reasonOf } from '@parley/core';
import type { Logger as ChatLogger } from 'chat';

/**
 * Forwards an adapter's log to Parley's log. An adapter's errors and warnings are often expected (a
 * missing permission, a repeated event), and the host reports failed calls itself.
 */
export function createChatLogger(log: Logger, prefix = ''): ChatLogger {
  const line =
    (level: 'debug' | 'info' | 'warn') =>
    (message: string, ...facts: unknown[]): void =>
      log[level](extractErrorFacts(facts), prefix === '' ? message : `${prefix}: ${message}`);
  return {
    child: (name) => createChatLogger(log, prefix === '' ? name : `${prefix}: ${name}`),
    debug: line('debug'),
    info: line('debug'),
    warn: line('info'),
    error: line('warn'),
  };
}

/** Only error objects are logged, because other values may contain message text. */
function extractErrorFacts(facts: readonly unknown[]): object {
  const [first] = facts;
  const error = first instanceof Error ? first : (first as { error?: unknown } | undefined)?.error;
  return error === undefined ? {} : { reason: reasonOf(error) };
}
