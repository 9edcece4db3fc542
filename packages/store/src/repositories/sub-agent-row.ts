import { InboundMessage, ReplyRoute } from '@parley/contracts';
import type { Selectable } from 'kysely';
import type { Sql } from '../database.ts';
import { fromCheckedJson } from '../json-column.ts';
import type { AdmittedMessage } from '../rows.ts';
import type { SubAgentRun } from '../sub-agents.ts';
import type { SubAgentTable } from '../tables/work-tables.ts';
import { ensureConversation } from './conversation.ts';
import { newInboxRow } from './inbox-row.ts';

/** A run as the other packages know it. */
export function readSubAgent(row: Selectable<SubAgentTable>): SubAgentRun {
  return {
    id: row.id,
    conversationId: row.conversation_id,
    parentConversation: row.parent_conversation,
    rootConversation: row.root_conversation,
    parentTurn: row.parent_turn,
    depth: row.depth,
    title: row.title,
    task: row.task,
    reader: row.reader,
    state: row.state,
    result: row.result,
    steps: row.steps,
    inputTokens: row.input_tokens,
    outputTokens: row.output_tokens,
    costUsd: row.cost_usd,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
  };
}

/** Behind the id of a run: the id of the message that tells of its end. */
export const COMPLETION = '.over';

/** What Parley itself puts into a lane: no person wrote it, and nobody outside can pass for it. */
interface OwnWords {
  readonly conversationId: string;
  readonly messageId: string;
  readonly text: string;
  /** In place of the chat's, so that a lane without people stays out of what chats wrote. */
  readonly chatId?: string;
  readonly now: number;
}

/** The message of a run or of its completion: where and by whom the work was asked for, in new words. */
export function ownMessage(
  run: Pick<Selectable<SubAgentTable>, 'origin' | 'route' | 'from_owner'>,
  { conversationId, messageId, text, chatId, now }: OwnWords,
): AdmittedMessage {
  const origin = fromCheckedJson(InboundMessage, run.origin, 'message that a sub-agent works for');
  const { channel, account, chat, sender } = origin;
  return {
    conversationId,
    route: fromCheckedJson(ReplyRoute, run.route, 'reply route of a sub-agent'),
    receivedAt: now,
    fromOwner: run.from_owner === 1,
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
      occasion: 'sub-agent',
    },
  };
}

/** Puts such a message into its lane. */
export async function putOwnMessage(sql: Sql, message: AdmittedMessage): Promise<void> {
  ensureConversation(sql, message.conversationId, message.receivedAt);
  await sql.insertInto('inbox').values(newInboxRow(message, 'waiting')).execute();
}
