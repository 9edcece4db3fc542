import { InboundMessage } from '@parley/core';
import { copyAttachments, insertAttachments } from './attachments.ts';
import { OF_CHAT } from './conversations.ts';
import { decodeCheckedJson, defineStatement, type Sql } from './database.ts';
import type { AdmittedMessage, FileRef } from './rows.ts';
import { BY_STOP } from './turns.ts';

/**
 * A message that refers to an earlier one by the same sender, in stored form, with the changes to
 * the earlier one.
 */
interface ReplacementRequest {
  /** The message still refers to the earlier message only if it replaces it. */
  readonly message: InboundMessage;
  /** The `seq` of the earlier message if its files are transferred; null otherwise. */
  readonly filesOf: number | null;
  /** Null if the earlier message stays and the new one is ordinary. */
  readonly replaced: { readonly seq: number; readonly turnId: string } | null;
}

/** Decides whether a message replaces an earlier one; the caller has locked the conversation. */
export async function findReplacedMessage(
  sql: Sql,
  { conversationId, message: { replaces = '', ...message } }: AdmittedMessage,
): Promise<ReplacementRequest> {
  const { channel, account, chat, sender } = message;
  const place = { channel, account, chatId: chat.id, messageId: replaces, conversationId };
  const row = chat.type === 'direct' ? await sql.get(EARLIER, place) : undefined;
  const nothing: ReplacementRequest = { message, filesOf: null, replaced: null };
  if (row === undefined) return nothing;
  const { seq, turnId } = row;
  const earlier = decodeCheckedJson(InboundMessage, row.message, `inbox message ${seq}`);
  const { trigger, typed, attachments } = earlier;
  // A message that started a plan is not a question, so it cannot be asked again.
  if (earlier.sender.id !== sender.id || trigger !== undefined || typed !== undefined) {
    return nothing;
  }
  const takesFiles = message.attachments === undefined && attachments !== undefined;
  const isReplaced = row.isNewest === 1 && turnId !== null;
  return {
    message: {
      ...message,
      ...(takesFiles && { attachments }),
      ...(isReplaced && { replaces }),
    },
    filesOf: takesFiles ? seq : null,
    replaced: isReplaced ? { seq, turnId } : null,
  };
}

/**
 * Stores the files of the new message `seq`, and removes the earlier message and its answer from
 * the model's history; their rows stay. Returns the ids of the replaced messages and parts.
 */
export async function replaceEarlierMessage(
  sql: Sql,
  { message, filesOf, replaced }: ReplacementRequest,
  seq: number,
  { receivedAt: now, files }: { readonly receivedAt: number; readonly files: readonly FileRef[] },
): Promise<readonly string[]> {
  if (filesOf === null) insertAttachments(sql, seq, message, now, files);
  else copyAttachments(sql, { from: filesOf, to: seq, isMove: replaced !== null }, now);
  if (replaced === null || message.replaces === undefined) return [];
  const { turnId } = replaced;
  sql.send(MARK, { seq: replaced.seq });
  sql.send(LEAVE_HISTORY, { turnId });
  sql.send(KEEP_NOTHING, { turnId, before: BY_STOP });
  sql.send(DROP_DEAD_LETTERS, { turnId, now });
  const parts = await sql.all(PARTS, { turnId });
  return [message.replaces, ...parts.map(({ id }) => id)];
}

// `isNewest`: the session's last turn answered only this message. Only commands may have been sent
// since then, and no part of the answer may be in transit, in a summary, or with a sub-agent.
const EARLIER = defineStatement(`
  select inbox.seq, inbox.message, inbox.turn_id as "turnId", case when
    turn.state <> 'running'
    and turn.session = (select session from conversation where id = :conversationId)
    and not exists (select 1 from inbox as joined
      where joined.turn_id = inbox.turn_id and joined.turn_id is not null and joined.seq <> inbox.seq)
    and not exists (select 1 from inbox as later
      where later.seq > inbox.seq and later.conversation_id = inbox.conversation_id
        and coalesce(later.outcome, '') <> 'command')
    and not exists (select 1 from transcript as later
      where later.conversation_id = :conversationId and later.session = turn.session and later.seq >
        (select max(seq) from transcript where transcript.turn_id = inbox.turn_id))
    and not exists (select 1 from summary
      where summary.conversation_id = :conversationId and summary.session = turn.session
        and summary.content is not null and summary.last_seq >=
          (select min(seq) from transcript where transcript.turn_id = inbox.turn_id))
    and not exists (select 1 from outbox
      where outbox.turn_id = inbox.turn_id and outbox.state in ('pending', 'sending'))
    and not exists (select 1 from sub_agent
      where parent_turn = inbox.turn_id and sub_agent.state = 'running')
    then 1 else 0 end as "isNewest"
  from inbox left join turn on turn.id = inbox.turn_id
  where ${OF_CHAT} and message_id = :messageId
    and inbox.conversation_id = :conversationId`).rows<{
  readonly seq: number;
  readonly message: string;
  readonly turnId: string | null;
  readonly isNewest: 0 | 1;
}>();

const MARK = defineStatement("update inbox set outcome = 'replaced' where seq = :seq");

const LEAVE_HISTORY = defineStatement('delete from transcript where turn_id = :turnId');

// Prevents a stopped turn's partial answer from being added to the history later.
const KEEP_NOTHING = defineStatement(`
  update turn set reason = 'by /stop; replaced'
  where id = :turnId and state = 'stopped' and reason = :before`);

const DROP_DEAD_LETTERS = defineStatement(`
  update dead_letter set settled = 'dropped', settled_at = :now
  where settled is null
    and subject in (select id from outbox where turn_id = :turnId union all select :turnId)`);

const PARTS = defineStatement('select id from outbox where turn_id = :turnId order by seq').rows<{
  readonly id: string;
}>();
