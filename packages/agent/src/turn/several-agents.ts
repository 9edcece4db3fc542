import { agentOfConversation } from '@parley/core';
import type { RunTurn } from '@parley/queue';
import type { FinalNotice } from './means.ts';

/**
 * Runs each turn with what its agent is made of (F14). `without`: for the turns of an agent that the settings do not
 * know any more, which no other agent may answer.
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

/** Ends the turns of an agent that the settings do not know: with a notice, and replayable as other failures are. */
export function unknownAgent(agent: string): FinalNotice {
  return {
    notice: `The agent that this was for, \`${agent}\`, is not there any more. Please write it again if you still need an answer.`,
    reason: `the settings have no agent "${agent}" (agents)`,
  };
}
