import { reasonOf } from '@parley/contracts';
import type { BeatSlot } from '@parley/store';
import type { BeatOutcome, HeartbeatDeps, HeartbeatRuns, HeartbeatStatus } from './run.ts';

/** The heartbeat of one agent (H01–H05). */
export interface Heartbeat {
  /** Releases held alerts, starts the run that is due, and returns when to look again (ms). */
  look(): Promise<number | null>;
  /** A run on request: of the due task, or of the named one whether it is due or not. */
  now(id: string, task?: string): Promise<BeatOutcome>;
  status(): Promise<HeartbeatStatus>;
}

const MINUTE_MS = 60_000;

/** Creates the heartbeat of an agent. Its runs are loaded when the first is due or requested. */
export function createHeartbeat(deps: HeartbeatDeps): Heartbeat {
  let opened: Promise<HeartbeatRuns> | undefined;
  const beats = (): Promise<HeartbeatRuns> => {
    opened ??= import('./run.ts').then(({ openRuns }) => openRuns(deps));
    return opened;
  };
  return {
    look: () => lookOnce(deps, async (slot) => (await beats()).beat(slot)),
    async now(id, task) {
      return (await beats()).beat(null, { id, ...(task !== undefined && { task }) });
    },
    status: async () => (await beats()).status(),
  };
}

async function lookOnce(
  deps: HeartbeatDeps,
  beat: (slot: BeatSlot) => Promise<BeatOutcome>,
): Promise<number | null> {
  const { store, agent, settings, clock } = deps;
  for (const route of await store.heartbeats.release(clock())) await deps.deliver(route);
  const heldUntil = await store.heartbeats.nextRelease();
  if (!settings.enabled) return heldUntil;
  const everyMs = settings.everyMinutes * MINUTE_MS;
  const { nextAt: dueAt } = await store.heartbeats.arm(agent.id, everyMs, clock());
  let nextAt = dueAt;
  if (dueAt <= clock()) {
    // Heartbeats missed while the machine slept are one run, and the schedule stays.
    nextAt = dueAt + Math.ceil((clock() + 1 - dueAt) / everyMs) * everyMs;
    // Before the next run starts, which may end differently.
    await tellFailures(deps);
    await beat({ agent: agent.id, dueAt, nextAt });
  }
  return Math.min(nextAt, heldUntil ?? nextAt);
}

/** A failed notice delays no run. */
async function tellFailures({ tellFailures: tell, agent, log }: HeartbeatDeps): Promise<void> {
  try {
    await tell?.();
  } catch (error) {
    const reason = reasonOf(error);
    log.warn({ agent: agent.id, reason }, 'the owner could not be notified that heartbeats fail');
  }
}
