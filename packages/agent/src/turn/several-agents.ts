import { getConversationAgent } from '@parley/core';
import type { RunTurn } from '@parley/queue';
import type { FinalNotice } from './means.ts';

/**
 * Runs each turn with the services of its agent (F14). `without` handles turns for an agent that is
 * no longer in the settings; no other agent may answer them.
 */
export function createAgentRunner(
  runs: ReadonlyMap<string | undefined, RunTurn>,
  without: (agent: string) => RunTurn,
): RunTurn {
  return (turn, lease, signal) => {
    const agent = getConversationAgent(turn.conversationId);
    const run = runs.get(agent) ?? without(agent ?? '');
    return run(turn, lease, signal);
  };
}

/**
 * Ends turns for an agent that is not in the settings, with a notice. Such turns can be replayed
 * like other failures.
 */
export function createUnknownAgentNotice(agent: string): FinalNotice {
  return {
    notice: `The agent that this was for, \`${agent}\`, no longer exists. Please write again if you still need an answer.`,
    reason: `the settings have no agent "${agent}" (agents)`,
  };
}
