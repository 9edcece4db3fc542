import type { JudgeBeat } from '@parley/contracts';
import type { RunTurn } from '@parley/queue';
import { type BeatRun, HEARTBEAT_LANE, type Store } from '@parley/store';
import type { TurnLimits } from '../loop/turn-loop.ts';
import { leadingMessage } from '../turn-opening.ts';
import type { TurnRunnerDeps } from '../turn-runner.ts';

/** What running heartbeats needs besides what every turn does. */
export interface BeatRunnerDeps extends TurnRunnerDeps {
  readonly store: TurnRunnerDeps['store'] & Pick<Store, 'heartbeats'>;
  readonly heartbeat: {
    readonly judge: JudgeBeat;
    /** What one run may use: its steps, and what is left of the day’s tokens. */
    readonly limits: (run: BeatRun) => Promise<Partial<TurnLimits>>;
  };
}

/**
 * Runs the turns of heartbeats itself (H05) and leaves all others to `runTurn`: without history, with
 * few tools, watched by nobody; and what it says is told only if it is an alert (H03, H04). Loads what
 * that takes with the first one.
 */
export function withHeartbeats(deps: BeatRunnerDeps, runTurn: RunTurn): RunTurn {
  return async (turn, lease, signal) => {
    if (!turn.conversationId.startsWith(HEARTBEAT_LANE)) return runTurn(turn, lease, signal);
    const run = await deps.store.heartbeats.of(leadingMessage(turn).message.messageId);
    if (run === null) throw new Error(`The lane ${turn.conversationId} has no heartbeat.`);
    const { runBeat } = await import('./run-beat.ts');
    await runBeat(deps, run, turn, lease, signal);
  };
}
