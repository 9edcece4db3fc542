import { type Logger, silentLogger } from './ambient.ts';

/** For tests: a logger that keeps what people would be warned of, one line each. */
export function recordingLogger(): { readonly log: Logger; readonly lines: string[] } {
  const lines: string[] = [];
  const note = (facts: object, message: string): void => {
    lines.push(`${message} ${JSON.stringify(facts)}`);
  };
  const log: Logger = { ...silentLogger, warn: note, error: note, child: () => log };
  return { log, lines };
}
