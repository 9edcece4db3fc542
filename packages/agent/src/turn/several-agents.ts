import { agentOfConversation } from '@parley/core';
import type { RunTurn } from '@parley/queue';
import type { FinalNotice } from './means.ts';

/**
 * Runs each turn with what belongs to its agent (F14). `without` handles the turns of an agent that
 * the settings no longer know; no other agent may answer them.
 */
export function runByAgent(
  runs: ReadonlyMap<string | undefined, RunTurn>,
  without: (agent: string) => RunTurn,
): RunTurn {
  return (turn, lease, signal) => {
    const agent = agentOfConversation(turn.conversationId);
    const run = runs.get(agent) ?? without(agent ?? '');
    return run(turn, lease, signal);
  };
}

/**
 * Ends the turns of an agent that the settings do not know, with a notice. They can be replayed
 * like other failures.
 */
export function unknownAgent(agent: string): FinalNotice {
  return {
    notice: `The agent that this was for, \`${agent}\`, no longer exists. Please write again if you still need an answer.`,
    reason: `the settings have no agent "${agent}" (agents)`,
  };
}
