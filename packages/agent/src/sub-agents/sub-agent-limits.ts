import type { SubAgentBounds, SubAgentRun } from '@parley/store';
import type { TurnLimits } from '../loop/turn-loop.ts';

/** How deep people's work may be handed on, and how much of it at a time (G07). */
export const SUB_AGENT_BOUNDS: SubAgentBounds = { depth: 2, atOnce: 3 };

/** What one sub-agent may use in all its turns together. */
const SUB_AGENT_LIMITS: Pick<TurnLimits, 'steps' | 'turnMs' | 'tokens'> = {
  steps: 20,
  turnMs: 30 * 60_000,
  tokens: 500_000,
};

/**
 * What is left of it for the next turn. One step is, always: in it the model has to say what it has.
 * Never more than what a turn with people may use.
 */
export function leftFor(
  run: Pick<SubAgentRun, 'steps' | 'inputTokens' | 'outputTokens' | 'startedAt'>,
  turn: TurnLimits,
  now: number,
  whole = SUB_AGENT_LIMITS,
): TurnLimits {
  const used = run.inputTokens + run.outputTokens;
  return {
    ...turn,
    steps: Math.max(1, whole.steps - run.steps),
    turnMs: Math.max(0, Math.min(turn.turnMs, run.startedAt + whole.turnMs - now)),
    tokens: Math.max(0, Math.min(turn.tokens, whole.tokens - used)),
  };
}
