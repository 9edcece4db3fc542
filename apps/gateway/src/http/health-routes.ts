import { type Logger, reasonOf } from '@parley/contracts';
import type { Hono } from 'hono';
import type { AccountStatus } from '../channel-account.ts';
import type { AppEnv } from './access.ts';

/** What decides about health. */
export interface HealthOptions {
  readonly log: Logger;
  /** Rejects when the database does not answer. */
  readonly ping: () => Promise<void>;
  /** Rejects when the queue does not answer. */
  readonly pingQueue?: (() => Promise<unknown>) | undefined;
  /** The channels of this process. */
  readonly status: () => readonly AccountStatus[];
}

/** Health is open: a supervisor has no token, and learns nothing but yes or no (D10). */
export function addHealth(
  app: Hono<AppEnv>,
  { log, ping, pingQueue, status }: HealthOptions,
): void {
  app.get('/healthz', (c) => c.text('ok\n'));
  app.get('/readyz', async (c) => {
    try {
      await ping();
    } catch (error) {
      log.warn({ reason: reasonOf(error) }, 'not ready');
      return c.text('the database does not answer\n', 503);
    }
    try {
      await pingQueue?.();
    } catch (error) {
      log.warn({ reason: reasonOf(error) }, 'not ready');
      return c.text('the queue does not answer\n', 503);
    }
    // A channel that failed stays failed until a person mends it; the others are served all the same.
    const states = status().map(({ state }) => state.kind);
    if (states.includes('starting')) return c.text('channels are connecting\n', 503);
    if (states.includes('stopped')) return c.text('shutting down\n', 503);
    return c.text('ready\n');
  });
}
