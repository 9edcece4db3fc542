import { setTimeout as sleep } from 'node:timers/promises';
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

/** Supervisors wait for two seconds; whatever does not answer by then is as good as gone. */
const CHECKED_WITHIN_MS = 1_000;

/** Health is open: a supervisor has no token, and learns nothing but yes or no (D10). */
export function addHealth(
  app: Hono<AppEnv>,
  { log, ping, pingQueue, status }: HealthOptions,
): void {
  const checks = [
    checkWithin('the database does not answer', ping),
    checkWithin('the queue does not answer', async () => pingQueue?.()),
  ];
  app.get('/healthz', (c) => c.text('ok\n'));
  app.get('/readyz', async (c) => {
    const failures = (await Promise.all(checks.map((check) => check()))).filter(isPresent);
    for (const { reason } of failures) log.warn({ reason }, 'not ready');
    if (failures.length > 0) return c.text(`${failures.map(({ name }) => name).join('; ')}\n`, 503);
    // A channel that failed stays failed until a person mends it; the others are served all the same.
    const states = status().map(({ state }) => state.kind);
    if (states.includes('starting')) return c.text('channels are connecting\n', 503);
    if (states.includes('stopped')) return c.text('shutting down\n', 503);
    return c.text('ready\n');
  });
}

interface Failure {
  /** What supervisors are told. */
  readonly name: string;
  readonly reason: string;
}

function isPresent(failure: Failure | null): failure is Failure {
  return failure !== null;
}

/**
 * Resolves within the deadline: to null, or to what failed. A check that is still under way is
 * joined, so that many requests do not use up connections to a silent server.
 */
function checkWithin(name: string, check: () => Promise<unknown>): () => Promise<Failure | null> {
  let running: Promise<Failure | null> | undefined;
  return () => {
    running ??= check()
      .then(
        () => null,
        (error: unknown) => ({ name, reason: reasonOf(error) }),
      )
      .finally(() => {
        running = undefined;
      });
    const late = { name, reason: `no answer within ${CHECKED_WITHIN_MS} ms` };
    return Promise.race([running, sleep(CHECKED_WITHIN_MS, late, { ref: false })]);
  };
}
