import { defineStatement, type Sql } from '../database.ts';
import { type ConversationView, findConversation } from './list.ts';

/** What is shown about one conversation in addition to its messages. */
export interface ConversationDetails extends ConversationView {
  /** The model that produced the conversation's last answer; null if there is no answer. */
  readonly answeredBy: string | null;
  /**
   * The agent's turns since `since` (ms), with their tokens and their cost in US dollars;
   * `unpriced` counts turns whose model does not have a known price.
   */
  readonly spent: {
    readonly since: number;
    readonly turns: number;
    readonly tokens: number;
    readonly costUsd: number;
    readonly unpriced: number;
  };
  /** The newest files that people sent in the conversation. */
  readonly files: readonly ConversationFile[];
}

interface ConversationFile {
  /** Identifies a file within the conversation, together with its index. */
  readonly messageSeq: number;
  readonly index: number;
  readonly kind: string;
  readonly name: string | null;
  /** Size in bytes, as reported by the platform. */
  readonly size: number | null;
  readonly at: number;
  /** 1 if the file's bytes are stored and can be downloaded. */
  readonly isKept: 0 | 1;
}

const SPENT_MS = 30 * 24 * 60 * 60_000;

/** Returns null if the conversation does not exist. */
export async function readConversationDetails(
  sql: Sql,
  id: string,
  now: number,
  moment: number | null,
  reader: string | null,
): Promise<ConversationDetails | null> {
  const conversation = await findConversation(sql, id, moment, reader);
  if (conversation === null) return null;
  const since = now - SPENT_MS;
  const spent = await sql.get(SPENT, { id, since });
  const answeredBy = (await sql.get(MODEL, { id }))?.model ?? null;
  const { turns = 0, tokens, costUsd, unpriced } = spent ?? {};
  return {
    ...conversation,
    answeredBy,
    spent: {
      ...{ since, turns, tokens: tokens ?? 0 },
      ...{ costUsd: costUsd ?? 0, unpriced: unpriced ?? 0 },
    },
    files: await sql.all(FILES, { id }),
  };
}

const SPENT = defineStatement(`
  select count(*) as turns, sum(coalesce(input_tokens, 0) + coalesce(output_tokens, 0)) as tokens,
    sum(cost_usd) as "costUsd",
    sum(case when model is not null and cost_usd is null then 1 else 0 end) as unpriced
  from turn where written_by is null and id in (select turn_id from inbox
    where conversation_id = :id and received_at >= :since and turn_id is not null)`).rows<{
  readonly turns: number;
  readonly tokens: number | null;
  readonly costUsd: number | null;
  readonly unpriced: number | null;
}>();

const MODEL = defineStatement(`
  select turn.model from inbox join turn on turn.id = inbox.turn_id
  where inbox.conversation_id = :id and turn.model is not null
  order by inbox.seq desc limit 1`).rows<{ readonly model: string }>();

const FILES = defineStatement(`
  select attachment.inbox_seq as "messageSeq", attachment.attachment_index as "index", attachment.kind,
    attachment.name, attachment.size, attachment.created_at as at,
    case when attachment.bytes is null then 0 else 1 end as "isKept"
  from attachment join inbox on inbox.seq = attachment.inbox_seq
  where inbox.conversation_id = :id
  order by attachment.inbox_seq desc, attachment.attachment_index limit 20`).rows<ConversationFile>();
