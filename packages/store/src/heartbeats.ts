import type { ReplyRoute } from '@parley/contracts';
import type { AdmittedMessage, Lease, NewPart, TranscriptEntry, TurnCommit } from './rows.ts';

/** What the lane of an agent's heartbeat is called; no chat ever has such a name. */
export const HEARTBEAT_LANE = 'beat:';

/** When an agent's heart beats next, and what came of the last time. Times in ms. */
export interface BeatPlan {
  readonly agent: string;
  readonly everyMs: number;
  readonly nextAt: number;
  /** Null before the first beat. */
  readonly lastAt: number | null;
  /** Why the last beat began no run; null when it did. */
  readonly lastReason: string | null;
}

/** The beat that is due: whoever moves the plan from `dueAt` to `nextAt` has it, and nobody else. */
export interface BeatSlot {
  readonly agent: string;
  readonly dueAt: number;
  readonly nextAt: number;
}

/** A run of one standing task, before it begins. */
export interface BeatOrder {
  /** Unique: names the run and the message that begins it. */
  readonly id: string;
  readonly agent: string;
  /** The task’s name in HEARTBEAT.md. */
  readonly task: string;
  /** The conversation that an alert belongs to: fixed here, before any model runs (H04). */
  readonly target: string;
  /** What its turn begins with, in the lane of the heartbeat; its route is where an alert goes. */
  readonly message: AdmittedMessage;
}

/**
 * `held`: an alert that waits for the end of the quiet hours; `repeated`: one that was told already;
 * `unclear`: neither an alert nor a plain "all is quiet", and told to nobody.
 */
export type BeatState =
  | 'running'
  | 'quiet'
  | 'alerted'
  | 'held'
  | 'repeated'
  | 'unclear'
  | 'failed';

/** One run of a standing task. Times in ms. */
export interface BeatRun {
  readonly id: string;
  readonly agent: string;
  readonly task: string;
  readonly target: string;
  readonly state: BeatState;
  readonly reason: string | null;
  /** What was told, or would have been. */
  readonly alert: string | null;
  /** When a held alert is told; null for all others. */
  readonly heldUntil: number | null;
  readonly startedAt: number;
  readonly finishedAt: number | null;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** An alert on its way to its target. */
export interface BeatAlert {
  readonly text: string;
  /** The same for two alerts that say the same (H04). */
  readonly fingerprint: string;
  /** Joins the history of the target’s conversation, so that an answer to it is understood. */
  readonly entry: TranscriptEntry;
  readonly parts: readonly NewPart[];
  /** Before that (ms) nobody is told: quiet hours. */
  readonly heldUntil?: number;
}

/** How the turn of a run ends. `commit` has no parts: what is told is the alert. */
export interface BeatTurn {
  readonly id: string;
  readonly commit: TurnCommit;
  readonly state: Exclude<BeatState, 'running' | 'held'>;
  readonly reason: string | null;
  /** With `alerted` alone. */
  readonly alert?: BeatAlert;
}

/** Heartbeats (H01–H05): the plan of each agent and the runs of its standing tasks. */
export interface HeartbeatRepository {
  /** Null before `arm` was called the first time. */
  plan(agent: string): Promise<BeatPlan | null>;
  /** Makes the plan, or gives it another cadence: then the next beat is `everyMs` from `now` at most. */
  arm(agent: string, everyMs: number, now: number): Promise<BeatPlan>;
  /** Takes a beat on which nothing is run. False when somebody else has taken it. */
  rest(slot: BeatSlot, reason: string, now: number): Promise<boolean>;
  /**
   * Takes a beat and begins a run, in one transaction; without a slot somebody asked for it. `busy`:
   * a run of that agent is not over, and the beat stays to be taken. `gone`: somebody else has it.
   */
  begin(order: BeatOrder, slot: BeatSlot | null, now: number): Promise<'begun' | 'busy' | 'gone'>;
  /** A run by its id. */
  of(id: string): Promise<BeatRun | null>;
  /** Ends the turn of a run and lets its alert go, in one fenced transaction: it is told once. */
  commit(lease: Lease, turn: BeatTurn, now: number): Promise<'committed' | 'fenced'>;
  /** Lets go of alerts whose quiet hours are over; where the parts went, to wake their deliveries. */
  release(now: number): Promise<readonly ReplyRoute[]>;
  /** When the next held alert may go; null when none is held. */
  nextRelease(): Promise<number | null>;
  /** Whether an alert that says the same was told, or is held, since then. */
  alertedSince(agent: string, fingerprint: string, since: number): Promise<boolean>;
  /** When each task last began. */
  lastRuns(agent: string): Promise<ReadonlyMap<string, number>>;
  /** The newest first. */
  recent(agent: string, limit: number): Promise<readonly BeatRun[]>;
  /** Tokens in and out of all runs that began since then. */
  tokensSince(agent: string, since: number): Promise<number>;
}
