import type { Sql } from '../database.ts';
import { statement } from '../database.ts';
import { findConversation, type ShownConversation } from './list.ts';

/** What is known of one conversation besides its messages. */
export interface ConversationDetails extends ShownConversation {
  /** The model that answered last; null: none did. */
  readonly answeredBy: string | null;
  /** Since `since` (ms): turns, their tokens and US dollars, where prices are known. */
  readonly spent: {
    readonly since: number;
    readonly turns: number;
    readonly tokens: number;
    readonly costUsd: number;
  };
  /** The newest files that people sent there. */
  readonly files: readonly ConversationFile[];
}

interface ConversationFile {
  /** Names its bytes below the conversation. */
  readonly messageSeq: number;
  readonly index: number;
  readonly kind: string;
  readonly name: string | null;
  /** Bytes, as the platform says. */
  readonly size: number | null;
  readonly at: number;
  /** 1: its bytes are there, and can be downloaded. */
  readonly isKept: 0 | 1;
}

const SPENT_MS = 30 * 24 * 60 * 60_000;

/** Null: there is no such conversation. */
export async function readDetails(
  sql: Sql,
  id: string,
  now: number,
): Promise<ConversationDetails | null> {
  const found = await findConversation(sql, id);
  if (found === null) return null;
  const since = now - SPENT_MS;
  const spent = await sql.get(SPENT, { id, since });
  const answeredBy = (await sql.get(MODEL, { id }))?.model ?? null;
  const { turns = 0, tokens = 0, costUsd = 0 } = spent ?? {};
  return {
    ...found,
    answeredBy,
    spent: { since, turns, tokens: tokens ?? 0, costUsd: costUsd ?? 0 },
    files: await sql.all(FILES, { id }),
  };
}

const SPENT = statement(`
  select count(*) as turns, sum(coalesce(input_tokens, 0) + coalesce(output_tokens, 0)) as tokens,
    sum(cost_usd) as "costUsd"
  from turn where id in (select turn_id from inbox
    where conversation_id = :id and received_at >= :since and turn_id is not null)`).rows<{
  readonly turns: number;
  readonly tokens: number | null;
  readonly costUsd: number | null;
}>();

const MODEL = statement(`
  select turn.model from inbox join turn on turn.id = inbox.turn_id
  where inbox.conversation_id = :id and turn.model is not null
  order by inbox.seq desc limit 1`).rows<{ readonly model: string }>();

const FILES = statement(`
  select attachment.inbox_seq as "messageSeq", attachment.attachment_index as "index", attachment.kind,
    attachment.name, attachment.size, attachment.created_at as at,
    case when attachment.bytes is null then 0 else 1 end as "isKept"
  from attachment join inbox on inbox.seq = attachment.inbox_seq
  where inbox.conversation_id = :id
  order by attachment.inbox_seq desc, attachment.attachment_index limit 20`).rows<ConversationFile>();
