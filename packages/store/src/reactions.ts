import { InboundMessage } from '@parley/core';
import type { MessageKey } from './conversations.ts';
import { OF_CHAT } from './conversations.ts';
import { type Database, decodeCheckedJson, defineStatement, type Sql } from './database.ts';
import { type ContextKey, storeGroupContext } from './group-context.ts';
import { OUTBOX_COLUMNS, type PartRow, readPart } from './outbox-parts.ts';
import type { GroupContextMessage } from './rows.ts';
import { REACTION_PREFIX } from './tables/messages.ts';

/** A message in a chat from the agent or a person; names and text are untrusted. */
export type StoredMessage =
  | {
      readonly by: 'agent';
      readonly text: string;
      readonly threadId?: string | undefined;
      /**
       * The conversation of the turn that wrote the message, which may be a lane without people;
       * absent if no turn wrote it.
       */
      readonly conversationId?: string | undefined;
    }
  | {
      readonly by: 'person';
      readonly senderId: string;
      readonly senderName: string;
      readonly text: string;
      /** The conversation in which the person wrote the message. */
      readonly conversationId: string;
    };

/** A person's reactions to a message, as one line of context. */
export interface ReactionLine extends Omit<GroupContextMessage, 'messageId'> {
  readonly messageId: string;
  /** When the reaction was made, according to the platform, in ms. */
  readonly sentAt: number;
}

/** Reactions to messages, stored as lines in the `group_context` table. */
export function createReactionRepository(database: Database) {
  return {
    /**
     * Finds a message by its platform id; of Parley's own messages, only the newest 1,000 in the
     * chat are searched. Returns null if the message is unknown.
     */
    message: (key: MessageKey) => database.read((sql) => findMessage(sql, key)),

    /**
     * Stores a reaction line for the conversation's next turn. The line replaces an earlier line
     * about the same message and person, unless a turn has already claimed it. A duplicate event is
     * stored once.
     */
    keep: (
      place: ContextKey,
      { sentAt, ...line }: ReactionLine,
      now: number,
      most = 50,
    ): Promise<void> =>
      database.write((sql) => {
        const id = `${REACTION_PREFIX}${JSON.stringify([line.senderId, line.messageId])} `;
        const message = { ...line, messageId: `${id}${sentAt}` };
        return storeGroupContext(sql, place, message, { now, most }, () =>
          sql.send(DROP, { ...place, id }),
        );
      }, 'process'),
  };
}

async function findMessage(sql: Sql, key: MessageKey): Promise<StoredMessage | null> {
  const own = await sql.get(SENT_PART, key);
  if (own !== undefined) {
    const { body, file, route } = readPart(own);
    const text = [...(file ? [`[${file.kind}]`] : []), body.plain].join(' ').trim();
    const conversationId = own.conversationId ?? undefined;
    return { by: 'agent', text, threadId: route.threadId, conversationId };
  }
  const said = await sql.get(RECEIVED_MESSAGE, key);
  if (said === undefined) {
    const heard = await sql.get(GROUP_CONTEXT_MESSAGE, key);
    return heard === undefined ? null : { by: 'person', ...heard };
  }
  const { conversationId } = said;
  const stored = decodeCheckedJson(InboundMessage, said.message, `message ${key.messageId}`);
  const { sender, text, typed, attachments = [] } = stored;
  const words = [...attachments.map(({ kind }) => `[${kind}]`), typed ?? text].join(' ').trim();
  const who = { senderId: sender.id, senderName: sender.name };
  return { by: 'person', ...who, text: words, conversationId };
}

const DROP = defineStatement(`
  delete from group_context
  where conversation_id = :conversationId and turn_id is null and ${OF_CHAT}
    and substr(message_id, 1, length(:id)) = :id`);

const SENT_PART = defineStatement(`
  select ${OUTBOX_COLUMNS},
    (select conversation_id from turn where turn.id = outbox.turn_id) as "conversationId"
  from outbox
  where platform_message_id = :messageId and seq in (
    select seq from outbox where ${OF_CHAT} order by seq desc limit 1000)
  limit 1`).rows<PartRow & { readonly conversationId: string | null }>();

const RECEIVED_MESSAGE = defineStatement(`
  select message, conversation_id as "conversationId" from inbox
  where ${OF_CHAT} and message_id = :messageId`).rows<{
  readonly message: string;
  readonly conversationId: string;
}>();

const GROUP_CONTEXT_MESSAGE = defineStatement(`
  select sender_id as "senderId", sender_name as "senderName", text,
    conversation_id as "conversationId"
  from group_context where ${OF_CHAT} and message_id = :messageId`).rows<
  Omit<Extract<StoredMessage, { by: 'person' }>, 'by'>
>();
