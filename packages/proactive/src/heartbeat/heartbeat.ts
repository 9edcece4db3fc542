import { type NewsChecker, type ReplyRoute, type Runtime, reasonOf } from '@parley/core';
import type { BeatSlot, Store } from '@parley/store';
import type { WorkspaceView } from '@parley/workspace';
import type { FindTarget } from '../alerts.ts';
import type { BeatOutcome } from './run.ts';
import type { HeartbeatService } from './service.ts';

export interface HeartbeatServices extends Pick<Runtime, 'clock' | 'log'> {
  readonly store: Pick<Store, 'heartbeats'>;
  readonly agent: { readonly id: string; readonly timeZone: string };
  /** The owner’s. */
  readonly view: WorkspaceView;
  readonly settings: {
    readonly enabled: boolean;
    readonly everyMinutes: number;
    readonly tokensPerDay: number;
    /** `off`, or `22:00-07:00`. */
    readonly quietHours: string;
  };
  readonly findTarget: FindTarget;
  /** Without it every task calls the model. */
  readonly checkForNews?: NewsChecker;
  /** Writes to the owner's direct chat, once for each key, however often it is called. */
  readonly notify?: (key: string, words: string) => Promise<void>;
  readonly wake: (lane: string) => Promise<void>;
  readonly deliver: (route: ReplyRoute) => Promise<void>;
  /** False: Parley is not running, so there are no heartbeat runs. */
  readonly isRunning?: boolean;
}

const MINUTE_MS = 60_000;

export type Heartbeat = ReturnType<typeof createHeartbeat>;

/** The heartbeat of one agent (H01–H05). All but its schedule is loaded when it is first used. */
export function createHeartbeat(deps: HeartbeatServices) {
  let loading: Promise<HeartbeatService> | undefined;
  const service = () => {
    loading ??= import('./service.ts').then(({ openService }) => openService(deps));
    return loading;
  };
  return {
    /** Releases held alerts, starts the run that is due, and returns when to look again (ms). */
    look: () => lookOnce(deps, async (slot) => (await service()).beat(slot)),
    /** A run on request: of the due task, or of the named one whether it is due or not. */
    now: async (id: string, task?: string) => (await service()).beat(null, { id, task }),
    /** The same, with the outcome in words. */
    request: async (id: string, task?: string) => (await service()).request(id, task),
    status: async () => (await service()).status(),
    report: async () => (await service()).report(),
    /** For `/status`. */
    line: async () => (await service()).line(),
    /** Answers `/heartbeat` of an owner, in Markdown. Idempotent per message. */
    answer: async (...asked: Parameters<HeartbeatService['answer']>) =>
      (await service()).answer(...asked),
  };
}

async function lookOnce(
  deps: HeartbeatServices,
  run: (slot: BeatSlot) => Promise<BeatOutcome>,
): Promise<number | null> {
  const { store, agent, settings, clock, log } = deps;
  for (const route of await store.heartbeats.release(clock())) await deps.deliver(route);
  const heldUntil = await store.heartbeats.nextRelease();
  if (!settings.enabled) return heldUntil;
  const everyMs = settings.everyMinutes * MINUTE_MS;
  const { nextAt: dueAt } = await store.heartbeats.arm(agent.id, everyMs, clock());
  let nextAt = dueAt;
  if (dueAt <= clock()) {
    // Heartbeats missed while the machine slept are one run, and the schedule stays.
    nextAt = dueAt + Math.ceil((clock() + 1 - dueAt) / everyMs) * everyMs;
    // Before the next run starts, which may end differently; a failed notice delays no run.
    await notifyOfFailures(deps).catch((error: unknown) => {
      const facts = { agent: agent.id, reason: reasonOf(error) };
      log.warn(facts, 'the owner could not be notified that heartbeats fail');
    });
    await run({ agent: agent.id, dueAt, nextAt });
  }
  return Math.min(nextAt, heldUntil ?? nextAt);
}

async function notifyOfFailures({ notify, ...deps }: HeartbeatServices): Promise<void> {
  if (notify === undefined) return;
  const { reportFailures } = await import('../alerts.ts');
  await reportFailures({ ...deps, notify });
}
