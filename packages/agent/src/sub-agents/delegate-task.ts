import { type Clock, type NewId, pluralize } from '@parley/core';
import type { SubAgentBounds, SubAgentRepository } from '@parley/store';
import { z } from 'zod';
import { markSystemMessage } from '../answer/visible-text.ts';
import type { TurnLimits } from '../loop/turn-limits.ts';
import {
  type CallMoment,
  createFailedOutcome,
  defineTool,
  type Tool,
  type ToolOutcome,
} from '../tools/tool.ts';
import { findUrls, isKnownUrl } from '../tools/web-tools.ts';

/**
 * The limits for sub-agents: depth, number of concurrent sub-agents, and total usage of a sub-agent
 * over all its turns (G07).
 */
export interface SubAgentLimits
  extends SubAgentBounds,
    Pick<TurnLimits, 'steps' | 'turnMs' | 'tokens'> {}

export const DEFAULT_SUB_AGENT_LIMITS: SubAgentLimits = {
  depth: 2,
  concurrent: 3,
  steps: 20,
  turnMs: 30 * 60_000,
  tokens: 500_000,
};

/**
 * The message that starts the first turn of a sub-agent. The task itself is part of the sub-agent's
 * prompt (P13).
 */
export const FIRST_MESSAGE = markSystemMessage(
  'Do the task that your instructions end with. What you answer last goes to the agent that gave it to you, not to a person.',
);

const TaskInput = z.object({
  title: z.string().trim().min(1).max(80).describe('A few words for the person.'),
  task: z
    .string()
    .trim()
    .min(1)
    .max(8_000)
    .describe('Everything it needs to know; it does not see this conversation.'),
});

/** Another agent that may receive a task (F14). */
interface DelegateAgent {
  readonly id: string;
  /** The prefix of the agent's conversation ids; undefined for the default agent. */
  readonly agent: string | undefined;
}

/** The schema names the other agents if the settings allow any. */
function createTaskInput(
  others: readonly DelegateAgent[],
): z.ZodType<z.infer<typeof TaskInput> & { readonly agent?: string | undefined }> {
  if (others.length === 0) return TaskInput;
  const agent = z
    .enum(others.map(({ id }) => id))
    .optional()
    .describe('Another agent, which uses its own files and tools. Default: you.');
  return TaskInput.extend({ agent });
}

/** Starts a sub-agent, which continues to run after this turn has ended (G07). */
export function createDelegateTaskTool({
  subAgents,
  wake,
  newId,
  clock,
  others = [],
  bounds = DEFAULT_SUB_AGENT_LIMITS,
}: {
  readonly subAgents: Pick<SubAgentRepository, 'start'>;
  readonly wake: (conversationId: string) => Promise<void>;
  readonly newId: NewId;
  readonly clock: Clock;
  /**
   * Other agents that may receive the task. Only the result is returned from another agent (F14).
   */
  readonly others?: readonly DelegateAgent[];
  readonly bounds?: SubAgentBounds;
}): Tool {
  return defineTool({
    name: 'delegate_task',
    summary: 'Starts a sub-agent on a separate task in the background.',
    hint: 'For work of many steps, such as looking something up in many places; do short things yourself. Tell the person that it is under way, then end your turn. Its result arrives as a message that starts a new turn: do not wait or ask for it.',
    tier: 'middleware',
    group: 'tasks',
    effect: 'external',
    actsOnce: true,
    audience: 'everyone',
    approval: 'never',
    input: createTaskInput(others),
    async run(
      { title, task: requested, agent },
      { callId, turnId, reader, moment, log },
    ): Promise<ToolOutcome> {
      const task = appendTaskOrigin(requested, createTaskOrigin(requested, moment));
      const to = others.find(({ id }) => id === agent);
      // An owner of this agent is not automatically an owner of another agent.
      const kind = to === undefined ? reader.kind : 'guest';
      const content = { title, task, reader: kind, text: FIRST_MESSAGE, ...(to && { to }) };
      const order = { id: newId('sub'), callId, turnId, ...content };
      const started = await subAgents.start(order, bounds, clock());
      if (started.kind !== 'started')
        return createFailedOutcome(describeDelegationRefusal(started.kind, bounds));
      await wake(started.conversationId);
      log.info({ turn: turnId, conversation: started.conversationId }, 'sub-agent started');
      return {
        text: `${to === undefined ? 'A sub-agent' : `The agent ${to.id}`} works on ${JSON.stringify(title)} now. Its result will come by itself, in a later turn. Until then nothing is known of it.`,
      };
    },
  });
}

function describeDelegationRefusal(
  kind: 'too-deep' | 'too-many' | 'over',
  { depth, concurrent }: SubAgentBounds,
): string {
  switch (kind) {
    case 'too-deep':
      return `Not started: a task can be handed on ${pluralize(depth, 'time')} at most. Do it yourself.`;
    case 'too-many':
      return `Not started: ${pluralize(concurrent, 'sub-agent')} of this conversation ${concurrent === 1 ? 'is' : 'are'} already working, which is the maximum. Do it yourself, or tell the person to ask again when one is done.`;
    case 'over':
      return 'Not started: this turn was stopped, or its conversation started again.';
  }
}

/** The facts about the delegating turn that a sub-agent cannot look up later. */
export interface TaskOrigin {
  /** The addresses that a person named, and the addresses in the task that a search found. */
  readonly named: readonly string[];
  /** Whether the delegating turn had read text from outsiders. */
  readonly untrustedText: boolean;
}

const MAX_ADDRESSES = 20;
const ADDRESS_CHARACTERS = 2_000;

/** The least trusted origin, assumed if the origin is unknown. */
export function createTaskOrigin(task: string, moment: CallMoment | undefined): TaskOrigin {
  if (moment === undefined) return { named: [], untrustedText: true };
  const found = findUrls([task]).filter((url) => isKnownUrl(url, moment));
  const named = limitUrls([...found, ...findUrls(moment.said)]);
  return { named, untrustedText: moment.untrustedText };
}

/** The origin of a task that a person typed. */
export function createTypedTaskOrigin(task: string): TaskOrigin {
  return { named: limitUrls(findUrls([task])), untrustedText: false };
}

function limitUrls(addresses: readonly string[]): readonly string[] {
  const short = addresses.filter(({ length }) => length <= ADDRESS_CHARACTERS);
  return [...new Set(short)].slice(0, MAX_ADDRESSES);
}

/**
 * Appends the origin to a task as its last line. The line is always added, so a task cannot forge
 * it.
 */
export function appendTaskOrigin(task: string, { named, untrustedText }: TaskOrigin): string {
  const when = untrustedText ? 'after' : 'before';
  const addresses = named.length === 0 ? 'none' : named.join(' ');
  return `${task}\n\n[Given ${when} words of outsiders were read. Addresses that were named or found: ${addresses}]`;
}

const ORIGIN =
  /\n\n\[Given (before|after) words of outsiders were read\. Addresses that were named or found: (\S.*)\]$/;

/** Parses the origin line of a task. A task without an origin line is treated as untrusted. */
export function parseTaskOrigin(task: string): TaskOrigin {
  const [, when, addresses] = ORIGIN.exec(task) ?? [];
  if (when === undefined || addresses === undefined) return { named: [], untrustedText: true };
  const named = addresses === 'none' ? [] : addresses.split(' ');
  return { named, untrustedText: when === 'after' };
}
