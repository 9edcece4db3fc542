import { InboundMessage, ReplyRoute } from '@parley/core';
import { fromCheckedJson } from './database.ts';
import type { AdmittedMessage, TurnCommit } from './rows.ts';

/** A task on its way to a sub-agent (G07). */
export interface SubAgentOrder {
  /** Unique; names the run and its lane. */
  readonly id: string;
  /** The call that asks for it: the same call again finds the run that it started. */
  readonly callId: string;
  /** The turn that asks; it must still be running. */
  readonly turnId: string;
  /** A short title for people. */
  readonly title: string;
  readonly task: string;
  /** For whom the asking turn runs: its sub-agent never runs with wider rights. */
  readonly reader: SubAgentRun['reader'];
  /** The message of the sub-agent's first turn, besides its task. */
  readonly text: string;
}

/** How many, and how deep. */
export interface SubAgentBounds {
  /** 1: sub-agents may not delegate. */
  readonly depth: number;
  /** Running at a time in one conversation with people, all depths together. */
  readonly atOnce: number;
}

/** One sub-agent, running or over. Times in ms. */
export interface SubAgentRun {
  readonly id: string;
  /** Its lane. */
  readonly conversationId: string;
  /** Where its completion goes: a conversation with people, or the lane of another sub-agent. */
  readonly parentConversation: string;
  /** The conversation with people that all this is done for. */
  readonly rootConversation: string;
  readonly parentTurn: string;
  /** 1 for those that a turn with people has started. */
  readonly depth: number;
  readonly title: string;
  readonly task: string;
  readonly reader: 'owner' | 'guest';
  readonly state: 'running' | 'done' | 'failed' | 'stopped';
  /** Its result or its failure, as text; null while it runs. */
  readonly result: string | null;
  /** Of all its turns together. */
  readonly steps: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** US dollars; null when the price of a step is not known. */
  readonly costUsd: number | null;
  readonly startedAt: number;
  readonly finishedAt: number | null;
}

/** How a turn of a sub-agent ends. It never has parts: nothing is sent from it. */
export interface SubAgentTurn {
  readonly commit: TurnCommit;
  /** Times the model was asked in it. */
  readonly steps: number;
  readonly state: 'done' | 'failed';
  readonly result: string;
  /** The message to the parent, and its id: once. */
  readonly text: string;
}

/** A stored run with what its messages need; `origin` and `route` are JSON. */
export interface SubAgentRow extends SubAgentRun, Origin {}

/** The message that a run works for, where it is answered, and whether an owner wrote it (1). */
export interface Origin {
  readonly origin: string;
  readonly route: string;
  readonly fromOwner: number;
}

/** The columns that make a `SubAgentRow`. */
export const SUB_AGENT_COLUMNS = `id, conversation_id as "conversationId",
  parent_conversation as "parentConversation", root_conversation as "rootConversation",
  parent_turn as "parentTurn", depth, title, task, reader, state, result, steps,
  input_tokens as "inputTokens", output_tokens as "outputTokens", cost_usd as "costUsd",
  started_at as "startedAt", finished_at as "finishedAt", origin, route, from_owner as "fromOwner"`;

/** Behind the id of a run: the id of the message about its end. */
export const COMPLETION = '.over';

/** What Parley itself puts into a lane: no person wrote it, and nothing from outside can pass for it. */
interface OwnMessage {
  readonly conversationId: string;
  readonly messageId: string;
  readonly text: string;
  /** In place of the chat's, so that a lane without people stays out of what chats wrote. */
  readonly chatId?: string;
  readonly now: number;
}

/** The message of a run or of its completion: where and by whom the work was asked for, with a new text. */
export function ownMessage(
  run: Origin,
  { conversationId, messageId, text, chatId, now }: OwnMessage,
): AdmittedMessage {
  const origin = fromCheckedJson(InboundMessage, run.origin, 'message that a sub-agent works for');
  const { channel, account, chat, sender } = origin;
  return {
    conversationId,
    route: fromCheckedJson(ReplyRoute, run.route, 'reply route of a sub-agent'),
    receivedAt: now,
    fromOwner: run.fromOwner === 1,
    reason: 'a sub-agent works for this conversation',
    message: {
      channel,
      account,
      messageId,
      chat: chatId === undefined ? chat : { ...chat, id: chatId },
      sender,
      text,
      mentions: [],
      addressed: true,
      sentAt: now,
      variables: {},
      trigger: 'sub-agent',
    },
  };
}
