import type { RunTurn } from '@parley/queue';
import { HEARTBEAT_LANE } from '@parley/store';
import { leadingMessage } from '../turn-opening.ts';
import type { TurnServices } from '../turn-services.ts';

/**
 * Runs the turns of heartbeats (H05) and leaves all others to `runTurn`: without history, with few tools
 * and without live events; only alerts are delivered (H03, H04). Loads its code with the first run.
 */
export function withHeartbeats(deps: TurnServices, runTurn: RunTurn): RunTurn {
  return async (turn, lease, signal) => {
    if (!turn.conversationId.startsWith(HEARTBEAT_LANE)) return runTurn(turn, lease, signal);
    const run = await deps.store.heartbeats.of(leadingMessage(turn).message.messageId);
    if (run === null) throw new Error(`The lane ${turn.conversationId} has no heartbeat.`);
    const { runHeartbeat } = await import('./heartbeat-turn.ts');
    await runHeartbeat(deps, run, turn, lease, signal);
  };
}
