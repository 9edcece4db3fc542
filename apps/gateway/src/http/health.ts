import { setTimeout as sleep } from 'node:timers/promises';
import { type Clock, type Logger, type Monotonic, ParleyError, reasonOf } from '@parley/core';
import { METRICS_CONTENT_TYPE } from '@parley/core/telemetry';
import type { OldestWork } from '@parley/store';
import { Hono } from 'hono';
import type { AccountStatus } from '../accounts/account.ts';
import { type AccessOptions, type AppEnv, createAccess, createRefusalResponse } from './access.ts';
import { createSecretVerifier } from './door.ts';
import { createStallDetector, type StalledWork } from './stalled-work.ts';

/** The checks and values that determine the health of a process. */
export interface HealthOptions {
  readonly log: Logger;
  /** Rejects if the database does not respond or is not writable. */
  readonly ping: () => Promise<void>;
  /** Rejects if the queue does not respond or is not writable. */
  readonly pingQueue?: (() => Promise<unknown>) | undefined;
  /** Returns the oldest waiting work; absent in processes without the gateway role. */
  readonly oldestWork?: (() => Promise<OldestWork>) | undefined;
  /** Counts the processes that run turns; absent if this process runs turns. */
  readonly workers?: (() => Promise<number>) | undefined;
  /** Returns the status of this process's channel accounts. */
  readonly status: () => readonly AccountStatus[];
  readonly clock: Clock;
  readonly monotonic: Monotonic;
}

/**
 * `degraded` means that some channels or messages are not served. `down` means that messages are
 * not being answered, or that the process is starting or stopping. The reasons do not contain
 * secrets.
 */
export interface HealthReport {
  readonly status: 'ready' | 'degraded' | 'down';
  readonly reasons: readonly string[];
}

/** Checks the current health, within the two seconds that supervisors wait. */
export type CheckHealth = () => Promise<HealthReport>;

/** A dependency that does not respond within this time (ms) counts as unavailable. */
const CHECKED_WITHIN_MS = 1_000;

/** Channels that the process itself serves; they work even if no platform can be reached. */
const LOCAL: ReadonlySet<string> = new Set(['web', 'terminal']);
const SERVED: ReadonlySet<string> = new Set(['connected', 'standby', 'paused']);

/**
 * Determines the health of a process from its database, its queue, the workers that run its turns,
 * its channels and the waiting work.
 */
export function openHealth(options: HealthOptions): CheckHealth {
  const { log, ping, pingQueue, workers, oldestWork, status } = options;
  const detectStall = createStallDetector(options.clock, options.monotonic);
  let stalled = NOT_STALLED;
  const checks = [
    createTimedCheck('the database does not answer', async () => {
      await ping();
      if ((await workers?.()) === 0)
        return 'no worker is alive: messages are stored but not answered';
      if (oldestWork !== undefined) stalled = detectStall(await oldestWork());
      return null;
    }),
    createTimedCheck('the queue does not answer', async () => {
      await pingQueue?.();
      return null;
    }),
  ];
  let last = '';
  return async () => {
    const failures = (await Promise.all(checks.map((check) => check()))).filter(isPresent);
    const health = decideHealth(
      failures.map(({ name }) => name),
      status(),
      stalled,
    );
    const text = formatHealth(health);
    // Supervisors ask every few seconds, so the log contains only changes.
    const causes = failures.map(({ reason }) => reason);
    if (health.status !== 'ready' && text !== last) log.warn({ causes }, text);
    last = text;
    return health;
  };
}

const NOT_STALLED: StalledWork = { messages: null, accounts: new Map() };

/**
 * Determines the health from failed checks, the state of each account, and work that has waited too
 * long.
 */
export function decideHealth(
  failures: readonly string[],
  accounts: readonly AccountStatus[],
  stalled: StalledWork = NOT_STALLED,
): HealthReport {
  const states = accounts.map(({ state }) => state.kind);
  const platforms = accounts.filter(({ channel }) => !LOCAL.has(channel));
  const away = platforms.flatMap((account) => findAccountProblem(account, stalled) ?? []);
  if (failures.length > 0) return { status: 'down', reasons: failures };
  if (states.includes('starting')) return { status: 'down', reasons: ['channels are connecting'] };
  if (states.includes('stopped')) return { status: 'down', reasons: ['shutting down'] };
  const reasons = [...describeStalledMessages(stalled), ...away, ...platforms.flatMap(listDefects)];
  if (reasons.length === 0) return { status: 'ready', reasons };
  const noneServed = away.length > 0 && away.length === platforms.length;
  const isDown = noneServed || stalled.messages?.noTurns === true;
  return { status: isDown ? 'down' : 'degraded', reasons };
}

/** Returns why an account is not served; null if it is. */
function findAccountProblem({ channel, account, state }: AccountStatus, stalled: StalledWork) {
  const name = `${channel}/${account}`;
  if (!SERVED.has(state.kind)) return `${name}: ${state.kind}`;
  const age = state.kind === 'connected' ? stalled.accounts.get(name) : undefined;
  return age === undefined
    ? null
    : `${name}: an answer has been waiting to be sent for ${formatSeconds(age)}`;
}

/**
 * Reports an account that is served although its adapter violated the channel contract. Stopped
 * accounts are reported elsewhere.
 */
function listDefects({ channel, account, state, defects }: AccountStatus): readonly string[] {
  if (defects === undefined || !SERVED.has(state.kind)) return [];
  return [`${channel}/${account}: channel contract violations by its adapter: ${defects.count}`];
}

function describeStalledMessages({ messages }: StalledWork): readonly string[] {
  if (messages === null) return [];
  return [`a message has been waiting for a turn for ${formatSeconds(messages.ageMs)}`];
}

function formatSeconds(ms: number): string {
  return `${Math.round(ms / 1000)} s`;
}

/** Formats the health on one line, such as `ready` or `degraded: telegram/work: failed`. */
export function formatHealth({ status, reasons }: HealthReport): string {
  return reasons.length === 0 ? status : `${status}: ${reasons.join('; ')}`;
}

/**
 * Health is public, because supervisors do not have the token. The response describes problems, but
 * does not contain secrets (D10).
 */
export function addHealthRoutes(app: Hono<AppEnv>, ask: CheckHealth): void {
  app.get('/healthz', (c) => c.text('ok\n'));
  app.get('/readyz', async (c) => {
    const health = await ask();
    return c.text(`${formatHealth(health)}\n`, health.status === 'down' ? 503 : 200);
  });
}

interface CheckFailure {
  /** The name of the dependency in responses to supervisors. */
  readonly name: string;
  readonly reason: string;
}

function isPresent(failure: CheckFailure | null): failure is CheckFailure {
  return failure !== null;
}

/** Problems of a database that responds. */
const TROUBLES: Readonly<Record<string, string>> = {
  'store-full': 'the disk that holds the database is full',
  'store-damaged': 'the database is damaged',
  'store-unwritable': 'the database is not writable',
};

/**
 * Resolves to null or to the failure, before the deadline. A check that is still running is reused,
 * so that many requests cannot exhaust the connections to a server that does not respond.
 */
function createTimedCheck(
  name: string,
  check: () => Promise<string | null>,
): () => Promise<CheckFailure | null> {
  let running: Promise<CheckFailure | null> | undefined;
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

/** Options for the web server of a process without channels. */
export interface HealthAppOptions extends Omit<HealthOptions, 'status'>, AccessOptions {
  readonly metrics: (health: CheckHealth) => Promise<string>;
}

/**
 * Serves `/healthz` and `/readyz` for everyone, and `/metrics` for callers with the token (D10).
 */
export function createHealthApp(options: HealthAppOptions): Hono<AppEnv> {
  const app = new Hono<AppEnv>();
  const access = createAccess(options, createSecretVerifier(options));
  const health = openHealth({ ...options, status: () => [] });
  addHealthRoutes(app, health);
  app.get('/metrics', async (c) => {
    const caller = access.checkPlace(c) ?? (await access.admit(c));
    if ('status' in caller) return createRefusalResponse(c, caller);
    return c.body(await options.metrics(health), 200, { 'content-type': METRICS_CONTENT_TYPE });
  });
  app.notFound((c) =>
    c.text(
      'There is no page here, because this process runs turns. A gateway serves the page.\n',
      404,
    ),
  );
  return app;
}
