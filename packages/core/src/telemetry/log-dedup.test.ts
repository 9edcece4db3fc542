import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createLogger, type LogLevel } from './logger.ts';
import { openSecrets } from './scrubber.ts';

const SERVER = 'Redis at 127.0.0.1:6379';
const AWAY = { outage: SERVER, reason: `${SERVER}: connect ECONNREFUSED` };

describe('the log during an outage', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  function collect(level: LogLevel = 'info') {
    const lines: string[] = [];
    const write = (line: string): void => {
      const { level: own, msg } = JSON.parse(line);
      lines.push(`${own} ${msg}`);
    };
    const scrub = openSecrets().scrubLog;
    return { lines, log: createLogger({ level, format: 'json', scrub, destination: { write } }) };
  }

  it('[D10] contains the first error, then one line every 30 s with the count, and one line at the end', () => {
    const { log, lines } = collect();
    const child = log.child({ channel: 'telegram' });
    for (let second = 0; second < 70; second += 1) {
      log.warn(AWAY, 'Redis cannot be used; trying again');
      child.error({ error: new Error(AWAY.reason) }, 'message cannot be woken');
      vi.advanceTimersByTime(1_000);
    }
    log.info({ recovered: SERVER }, 'Redis answers');
    vi.advanceTimersByTime(2_000);
    expect(lines).toEqual([
      'warn Redis cannot be used; trying again',
      `warn ${SERVER}: still failing, 61 errors in 30 s`,
      `warn ${SERVER}: still failing, 60 errors in 30 s`,
      `info ${SERVER}: works again after 70 s, 140 errors`,
    ]);
  });

  it('[D10] counts one outage although the server recovers briefly', () => {
    const { log, lines } = collect();
    for (let round = 0; round < 5; round += 1) {
      log.warn(AWAY, 'away');
      log.info({ recovered: SERVER }, 'Redis answers');
      vi.advanceTimersByTime(1_500);
    }
    vi.advanceTimersByTime(1_000);
    expect(lines).toEqual(['warn away', `info ${SERVER}: works again after 6 s, 5 errors`]);
    log.warn(AWAY, 'away');
    expect(lines.at(-1)).toBe('warn away');
  });

  it('reports the end of an outage after a minute without failures, even if the component that uses the server does not', () => {
    const { log, lines } = collect();
    log.warn(AWAY, 'away');
    vi.advanceTimersByTime(10_000);
    log.warn(AWAY, 'away');
    vi.advanceTimersByTime(60_000);
    expect(lines).toEqual(['warn away', `info ${SERVER}: no more errors after 10 s, 2 errors`]);
  });

  it('does not affect lines with a different cause, and counts each server separately', () => {
    const { log, lines } = collect();
    log.warn({ ...AWAY, reason: 'read ECONNRESET' }, 'away');
    // An error that does not name the server may have any origin.
    log.warn({ reason: 'read ECONNRESET' }, 'page not fetched');
    log.warn({ outage: 'telegram/default', reason: 'socket hang up' }, 'channel retries');
    log.error({ reason: 'bad token' }, 'channel failed');
    expect(lines).toEqual([
      'warn away',
      'warn page not fetched',
      'warn channel retries',
      'error channel failed',
    ]);
  });

  it('contains every line at debug level', () => {
    const { log, lines } = collect('debug');
    for (let i = 0; i < 3; i += 1) log.warn(AWAY, 'away');
    expect(lines).toEqual(['warn away', 'debug away', 'debug away']);
  });
});
