import { reasonOf } from '@parley/contracts';
import type { BeatSlot } from '@parley/store';
import type { BeatOutcome, Beats, HeartbeatDeps, HeartbeatStatus } from './run.ts';

/** The heartbeat of one agent (H01–H05). */
export interface Heartbeat {
  /** Lets held alerts go, runs the beat that is due, and says when to look again (ms). */
  look(): Promise<number | null>;
  /** A beat on request: of the task that is due, or of the named one whether it is due or not. */
  now(id: string, task?: string): Promise<BeatOutcome>;
  status(): Promise<HeartbeatStatus>;
}

const MINUTE_MS = 60_000;

/** Makes the heartbeat of an agent. Loads what beats when the first beat is due or somebody asks. */
export function createHeartbeat(deps: HeartbeatDeps): Heartbeat {
  let opened: Promise<Beats> | undefined;
  const beats = (): Promise<Beats> => {
    opened ??= import('./run.ts').then(({ openBeats }) => openBeats(deps));
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
    // What was missed while the machine slept is one beat, and the rhythm stays as it was.
    nextAt = dueAt + Math.ceil((clock() + 1 - dueAt) / everyMs) * everyMs;
    // Before the next run begins: it may end otherwise.
    await tellFailures(deps);
    await beat({ agent: agent.id, dueAt, nextAt });
  }
  return Math.min(nextAt, heldUntil ?? nextAt);
}

/** Not telling holds up no beat. */
async function tellFailures({ tellFailures: tell, agent, log }: HeartbeatDeps): Promise<void> {
  try {
    await tell?.();
  } catch (error) {
    const reason = reasonOf(error);
    log.warn({ agent: agent.id, reason }, 'the owner could not be told that heartbeats fail');
  }
}
