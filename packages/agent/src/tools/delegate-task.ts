import type { Clock, NewId } from '@parley/contracts';
import type { SubAgentRepository } from '@parley/store';
import { z } from 'zod';
import { SUB_AGENT_BOUNDS } from '../sub-agents/sub-agent-limits.ts';
import { BEGIN_WORDS } from '../sub-agents/sub-agent-words.ts';
import { originOfTask, withOrigin } from '../sub-agents/task-origin.ts';
import { defineTool, type Tool, type ToolOutcome } from './tool.ts';

/** What handing work on needs. */
export interface DelegateTaskDeps {
  readonly subAgents: Pick<SubAgentRepository, 'start'>;
  /** Wakes the lane of the sub-agent. */
  readonly wake: (conversationId: string) => Promise<void>;
  readonly newId: NewId;
  readonly clock: Clock;
}

const Input = z.object({
  title: z
    .string()
    .trim()
    .min(1)
    .max(80)
    .describe('A few words for the person, such as "flights to Lisbon".'),
  task: z
    .string()
    .trim()
    .min(1)
    .max(8_000)
    .describe('Everything it has to know: it sees nothing of this conversation.'),
});

/** Gives work to a sub-agent, which goes on when this turn is over (G07). */
export function delegateTaskTool({ subAgents, wake, newId, clock }: DelegateTaskDeps): Tool {
  return defineTool({
    name: 'delegate_task',
    summary: 'Starts a sub-agent that works on a task of its own while you go on.',
    hint: 'For work of many steps that can be done apart, such as looking something up in many places. Its result comes by itself as a message that begins a new turn: do not wait for it and do not ask for it. Tell the person that it is under way, then end your turn. Do short things yourself.',
    tier: 'middleware',
    effect: 'external',
    actsOnce: true,
    audience: 'everyone',
    approval: 'never',
    input: Input,
    async run(
      { title, task: wish },
      { callId, turnId, reader, moment, log },
    ): Promise<ToolOutcome> {
      const task = withOrigin(wish, originOfTask(wish, moment));
      const words = { title, task, reader: reader.kind, words: BEGIN_WORDS };
      const order = { id: newId('sub'), callId, turnId, ...words };
      const started = await subAgents.start(order, SUB_AGENT_BOUNDS, clock());
      if (started.kind !== 'started') return { text: REFUSED[started.kind], failed: true };
      await wake(started.conversationId);
      log.info({ turn: turnId, conversation: started.conversationId }, 'sub-agent started');
      return {
        text: `A sub-agent works on ${JSON.stringify(title)} now. Its result will come by itself, in a later turn. Until then nothing is known of it.`,
      };
    },
  });
}

const { depth, atOnce } = SUB_AGENT_BOUNDS;

const REFUSED = {
  'too-deep': `Not started: a task can be handed on ${depth} times at most. Do it yourself.`,
  'too-many': `Not started: ${atOnce} sub-agents of this conversation are at work already, which is the most. Do it yourself, or tell the person to ask again when one is done.`,
  over: 'Not started: this turn was stopped, or its conversation begun anew.',
} as const;
