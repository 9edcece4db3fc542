import { type Logger, silentLogger } from '@parley/core';

/**
 * A logger that writes one line for each call, `message {facts}`, so that tests can search the
 * lines.
 */
export function createLineLogger(
  lines: string[],
  { debug = false, changed = () => {} }: { debug?: boolean; changed?: () => void } = {},
): Logger {
  const note = (facts: object, message: string): void => {
    lines.push(`${message} ${JSON.stringify(facts)}`);
    changed();
  };
  const log: Logger = {
    ...silentLogger,
    ...(debug ? { debug: note } : {}),
    info: note,
    warn: note,
    error: note,
    child: () => log,
  };
  return log;
}
