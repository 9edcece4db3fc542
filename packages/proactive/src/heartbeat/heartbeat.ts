import { type ReplyRoute, reasonOf } from '@parley/contracts';
import type { BeatPlan, BeatSlot } from '@parley/store';
import type { FilePattern, WorkspaceView } from '@parley/workspace';
import type { BeatDeps, BeatOutcome } from './beat-once.ts';
import type { Beats } from './beats.ts';
import type { TaskOutlook } from './due-task.ts';
import type { HeartbeatState } from './heartbeat-state.ts';

/** The standing tasks, and when each last ran (H02). */
export const TASKS_FILE = 'HEARTBEAT.md';
export const STATE_FILE = 'heartbeat-state.json';

/** The workspace files of a heartbeat: each becomes prompt text of its runs. */
export const HEARTBEAT_READS: readonly FilePattern[] = [TASKS_FILE, STATE_FILE];

/** What the heartbeat of an agent works with. */
export interface HeartbeatDeps extends BeatDeps {
  /** The owner’s. */
  readonly view: WorkspaceView;
  readonly settings: {
    readonly enabled: boolean;
    readonly everyMinutes: number;
    readonly tokensPerDay: number;
  };
  /** Lets the owner know where runs fail one after the other. */
  readonly tellFailures?: () => Promise<void>;
  /** Wakes the delivery of a chat. */
  readonly deliver: (route: ReplyRoute) => Promise<void>;
}

/** How things stand, for `/heartbeat` and the console. */
export interface HeartbeatStatus {
  readonly plan: BeatPlan | null;
  readonly tasks: readonly TaskOutlook[];
  readonly state: HeartbeatState;
  /** What of HEARTBEAT.md was not understood, in sentences. */
  readonly problems: readonly string[];
  readonly tokensToday: number;
}

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
    opened ??= import('./beats.ts').then(({ openBeats }) => openBeats(deps));
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
