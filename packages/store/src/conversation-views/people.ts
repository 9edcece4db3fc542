import type { Sql } from '../database.ts';
import { defineStatement } from '../database.ts';
import { IS_NOT_DELETED } from '../inbox-reads.ts';
import { parseInboundMessage } from './messages.ts';

/** A person who recently wrote in a conversation, under one of their accounts. */
export interface ConversationPerson {
  /** `telegram:42`. */
  readonly person: string;
  readonly channel: string;
  /** The bot account that they wrote to. */
  readonly account: string;
  readonly senderId: string;
  /** The name that the person chose, so it is not trusted. */
  readonly name: string;
  /** When the person last wrote, in ms. */
  readonly lastAt: number;
}

/** The number of messages searched for authors, and the maximum number of people returned. */
const RECENT_MESSAGES = 300;
const MAX_PEOPLE = 12;

/** Lists the people in a conversation, most recent writer first. */
export async function readPeople(
  sql: Sql,
  conversationId: string,
): Promise<readonly ConversationPerson[]> {
  const people = new Map<string, ConversationPerson>();
  for (const row of await sql.all(RECENT, { conversationId, limit: RECENT_MESSAGES })) {
    const said = parseInboundMessage(row.message);
    if (said === null || said.trigger !== undefined || people.size === MAX_PEOPLE) continue;
    const { channel, account, at: lastAt } = row;
    const { id: senderId, name = senderId } = said.sender;
    const person = `${channel}:${senderId}`;
    if (people.has(person)) continue;
    people.set(person, { person, channel, account, senderId, name, lastAt });
  }
  return [...people.values()];
}

const RECENT = defineStatement(`
  select message, channel, account, received_at as at from inbox
  where conversation_id = :conversationId and ${IS_NOT_DELETED}
  order by seq desc limit :limit`).rows<{
  readonly message: string;
  readonly channel: string;
  readonly account: string;
  readonly at: number;
}>();
