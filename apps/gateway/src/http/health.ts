import { setTimeout as sleep } from 'node:timers/promises';
import { type Clock, type Logger, type Monotonic, ParleyError, reasonOf } from '@parley/core';
import { METRICS_CONTENT_TYPE } from '@parley/core/telemetry';
import type { OldestWork } from '@parley/store';
import { Hono } from 'hono';
import type { AccountStatus } from '../accounts/connect-account.ts';
import { type AccessOptions, type AppEnv, createAccess, refuse } from './access.ts';
import { createDoor } from './door.ts';
import { createStallDetector, type StalledWork } from './stalled-work.ts';

/** What decides about health. */
export interface HealthOptions {
  readonly log: Logger;
  /** Rejects when the database does not answer or cannot be written. */
  readonly ping: () => Promise<void>;
  /** Rejects when the queue does not answer or cannot be written. */
  readonly pingQueue?: (() => Promise<unknown>) | undefined;
  /** The oldest of what waits; absent where only a gateway knows. */
  readonly oldestWork?: (() => Promise<OldestWork>) | undefined;
  /** How many processes run turns; absent where this one does. */
  readonly workers?: (() => Promise<number>) | undefined;
  /** The channels of this process. */
  readonly status: () => readonly AccountStatus[];
  readonly clock: Clock;
  readonly monotonic: Monotonic;
}

/**
 * `degraded`: it serves, but not all of it; `down`: no message gets an answer, or the process
 * comes or goes. The reasons hold no secret.
 */
export interface Health {
  readonly status: 'ready' | 'degraded' | 'down';
  readonly reasons: readonly string[];
}

/** Asks for it now; within the two seconds that supervisors wait. */
export type AskHealth = () => Promise<Health>;

/** Whatever does not answer by then is as good as gone. */
const CHECKED_WITHIN_MS = 1_000;

/** The page is served by the process itself, also when all platforms are away. */
const LOCAL: ReadonlySet<string> = new Set(['web', 'terminal']);
const SERVED: ReadonlySet<string> = new Set(['connected', 'standby', 'paused']);

/** Health of a process: its database, its queue, the workers that it feeds, its channels, and what waits. */
export function openHealth(options: HealthOptions): AskHealth {
  const { log, ping, pingQueue, workers, oldestWork, status } = options;
  const detectStall = createStallDetector(options.clock, options.monotonic);
  let stalled = NOT_STALLED;
  const checks = [
    checkWithin('the database does not answer', async () => {
      await ping();
      if ((await workers?.()) === 0) return 'no worker is alive: messages are kept, not answered';
      if (oldestWork !== undefined) stalled = detectStall(await oldestWork());
      return null;
    }),
    checkWithin('the queue does not answer', async () => {
      await pingQueue?.();
      return null;
    }),
  ];
  let last = '';
  return async () => {
    const failures = (await Promise.all(checks.map((check) => check()))).filter(isPresent);
    const health = healthOf(
      failures.map(({ name }) => name),
      status(),
      stalled,
    );
    const text = healthText(health);
    // Supervisors ask every few seconds; the log has what has changed.
    const causes = failures.map(({ reason }) => reason);
    if (health.status !== 'ready' && text !== last) log.warn({ causes }, text);
    last = text;
    return health;
  };
}

const NOT_STALLED: StalledWork = { messages: null, accounts: new Map() };

/** Decides from the checks that failed, the state of each account, and what waits for too long. */
export function healthOf(
  failures: readonly string[],
  accounts: readonly AccountStatus[],
  stalled: StalledWork = NOT_STALLED,
): Health {
  const states = accounts.map(({ state }) => state.kind);
  const platforms = accounts.filter(({ channel }) => !LOCAL.has(channel));
  const away = platforms.flatMap((account) => troubleOf(account, stalled) ?? []);
  if (failures.length > 0) return { status: 'down', reasons: failures };
  if (states.includes('starting')) return { status: 'down', reasons: ['channels are connecting'] };
  if (states.includes('stopped')) return { status: 'down', reasons: ['shutting down'] };
  const reasons = [...messagesText(stalled), ...away, ...platforms.flatMap(defectOf)];
  if (reasons.length === 0) return { status: 'ready', reasons };
  const noneServed = away.length > 0 && away.length === platforms.length;
  const isDown = noneServed || stalled.messages?.noTurns === true;
  return { status: isDown ? 'down' : 'degraded', reasons };
}

/** Why an account serves nobody; null when it does. */
function troubleOf({ channel, account, state }: AccountStatus, stalled: StalledWork) {
  const name = `${channel}/${account}`;
  if (!SERVED.has(state.kind)) return `${name}: ${state.kind}`;
  const age = state.kind === 'connected' ? stalled.accounts.get(name) : undefined;
  return age === undefined ? null : `${name}: an answer has been unsent for ${secondsText(age)}`;
}

/** An account that serves although its adapter broke its contract; one that was stopped for it is named already. */
function defectOf({ channel, account, state, defects }: AccountStatus): readonly string[] {
  if (defects === undefined || !SERVED.has(state.kind)) return [];
  return [`${channel}/${account}: defects of its adapter: ${defects.count}`];
}

function messagesText({ messages }: StalledWork): readonly string[] {
  if (messages === null) return [];
  return [`a message has been waiting for a turn for ${secondsText(messages.ageMs)}`];
}

function secondsText(ms: number): string {
  return `${Math.round(ms / 1000)} s`;
}

/** One line: `ready`, `degraded: telegram/work: failed`. */
export function healthText({ status, reasons }: Health): string {
  return reasons.length === 0 ? status : `${status}: ${reasons.join('; ')}`;
}

/** Health is open: a supervisor has no token, and learns what is wrong but no secret (D10). */
export function addHealth(app: Hono<AppEnv>, ask: AskHealth): void {
  app.get('/healthz', (c) => c.text('ok\n'));
  app.get('/readyz', async (c) => {
    const health = await ask();
    return c.text(`${healthText(health)}\n`, health.status === 'down' ? 503 : 200);
  });
}

interface Failure {
  /** The answer for supervisors. */
  readonly name: string;
  readonly reason: string;
}

function isPresent(failure: Failure | null): failure is Failure {
  return failure !== null;
}

/** What is wrong with a database that does answer. */
const TROUBLES: Readonly<Record<string, string>> = {
  'store-full': 'the disk of the database is full',
  'store-damaged': 'the database is damaged',
  'store-unwritable': 'the database cannot be written',
};

/**
 * Resolves within the deadline: to null, or to what failed. A check that is still under way is
 * joined, so that many requests do not use up connections to a silent server.
 */
function checkWithin(
  name: string,
  check: () => Promise<string | null>,
): () => Promise<Failure | null> {
  let running: Promise<Failure | null> | undefined;
  return () => {
    running ??= check()
      .then(
        (wrong) => (wrong === null ? null : { name: wrong, reason: wrong }),
        (error: unknown) => {
          const code = error instanceof ParleyError ? error.code : '';
          return { name: TROUBLES[code] ?? name, reason: reasonOf(error) };
        },
      )
      .finally(() => {
        running = undefined;
      });
    const late = { name, reason: `no answer within ${CHECKED_WITHIN_MS} ms` };
    return Promise.race([running, sleep(CHECKED_WITHIN_MS, late, { ref: false })]);
  };
}

/** What a process without channels shows of itself. */
export interface HealthAppOptions extends Omit<HealthOptions, 'status'>, AccessOptions {
  readonly metrics: (health: AskHealth) => Promise<string>;
}

/** `/healthz`, `/readyz` for everyone and `/metrics` for callers with the token (D10). */
export function createHealthApp(options: HealthAppOptions): Hono<AppEnv> {
  const app = new Hono<AppEnv>();
  const access = createAccess(options, createDoor(options));
  const health = openHealth({ ...options, status: () => [] });
  addHealth(app, health);
  app.get('/metrics', async (c) => {
    const caller = access.checkPlace(c) ?? (await access.admit(c));
    if ('status' in caller) return refuse(c, caller);
    return c.body(await options.metrics(health), 200, { 'content-type': METRICS_CONTENT_TYPE });
  });
  app.notFound((c) =>
    c.text('There is nothing here: this process runs turns. The page is at a gateway.\n', 404),
  );
  return app;
}
