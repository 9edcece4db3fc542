import { defineStatement, type Sql } from '../database.ts';
import { IS_NOT_DELETED } from '../inbox-reads.ts';
import { buildHasPeopleCondition, NO_PEOPLE, readConversationTitles } from './list.ts';
import {
  getMessageText,
  getPartText,
  mergeNewestFirst,
  NEWEST,
  type PageCursor,
  parseInboundMessage,
} from './messages.ts';
import { excerptMatch, matchesTerms, parseTerms, type SearchTerms } from './search-index.ts';

/** A message or part that contains all terms. */
export interface SearchHit {
  readonly conversationId: string;
  /** The name that the reader gave the conversation, or else its title. */
  readonly title: string;
  readonly channel: string;
  readonly message: string;
  readonly direction: 'in' | 'out';
  /** The time of the message, in ms. */
  readonly at: number;
  /** The author's name; null for the agent. */
  readonly from: string | null;
  /** Private. */
  readonly excerpt: string;
}

/** The search query as typed, and the previous page's cursor (null for the first page). */
export interface SearchQuery {
  readonly typed: string;
  readonly before: PageCursor | null;
  readonly limit: number;
  /** The person whose own names for conversations are shown; null or absent for none. */
  readonly reader?: string | null;
  /** Removes secrets; called before the text is truncated. */
  readonly scrub: (text: string) => string;
}

/** A page of search hits, newest first, with the cursor for older ones (null if there are none). */
export interface SearchPage {
  readonly hits: readonly SearchHit[];
  readonly older: PageCursor | null;
}

/** Looks up the terms in the index and keeps the rows whose text still contains them. */
export async function searchMessages(
  sql: Sql,
  dialect: 'sqlite' | 'postgres',
  { typed, before: behind, limit, reader = null, scrub }: SearchQuery,
): Promise<SearchPage> {
  const terms = parseTerms(typed);
  const before = behind ?? NEWEST;
  if (terms.length === 0) return { hits: [], older: null };
  const query = dialect === 'sqlite' ? toFtsQuery(terms) : toTsQuery(terms);
  const said = await sql.all(MATCHING_MESSAGES, { query, before: before.inbox, limit });
  const sent = await sql.all(SENT, {
    ...{ query, before: before.outbox, limit },
    ...NO_PEOPLE,
  });
  const { taken, older } = mergeNewestFirst(said, sent, before, limit);
  const ids = taken.flatMap(({ conversationId }) => conversationId ?? []);
  const titles = await readConversationTitles(sql, ids, reader);
  const hits: SearchHit[] = [];
  for (const row of taken) {
    const { conversationId: id } = row;
    const text = row.direction === 'in' ? getMessageText(row.stored) : getPartText(row.stored);
    if (id === null || text === null || !matchesTerms(text, terms)) continue;
    const title = titles.get(id) ?? row.chatId;
    const excerpt = excerptMatch(scrub(text), terms);
    hits.push({ ...toSearchHit(row), conversationId: id, title, excerpt });
  }
  return { hits, older };
}

function toSearchHit({ direction, seq, channel, at, stored }: SearchHitRow) {
  const isIn = direction === 'in';
  const from = isIn ? (parseInboundMessage(stored)?.sender.name ?? null) : null;
  return { message: `${isIn ? 'i' : 'o'}${seq}`, direction, channel, at, from };
}

/**
 * Builds the FTS5 query: phrases whose last word may be a prefix. No escaping is needed, because
 * words contain only letters, digits and marks.
 */
function toFtsQuery(terms: SearchTerms): string {
  return terms.map((term) => `"${term.join(' ')}" *`).join(' AND ');
}

function toTsQuery(terms: SearchTerms): string {
  const phrase = (term: readonly string[]) =>
    term.map((word, nth) => `'${word}'${nth === term.length - 1 ? ':*' : ''}`).join(' <-> ');
  return terms.map((term) => `(${phrase(term)})`).join(' & ');
}

interface SearchHitRow {
  readonly direction: 'in' | 'out';
  readonly seq: number;
  readonly at: number;
  readonly stored: string;
  readonly channel: string;
  readonly chatId: string;
  readonly conversationId: string | null;
}

const MATCHES =
  '/*sqlite search_entry match :query *//*pg words @@ cast(:query as tsquery)*/' as const;

// An entry's id divided by two is the row's `seq`; even ids belong to the inbox, odd ones to the
// outbox.
const MATCHING_MESSAGES = defineStatement(`
  select 'in' as direction, inbox.seq, received_at as at, message as stored, channel,
    chat_id as "chatId", conversation_id as "conversationId"
  from search_entry join inbox on inbox.seq = search_entry./*sqlite rowid*//*pg id*/ / 2
  where ${MATCHES} and search_entry./*sqlite rowid*//*pg id*/ % 2 = 0 and inbox.seq < :before
    and ${IS_NOT_DELETED}
  order by search_entry./*sqlite rowid*//*pg id*/ desc limit :limit`).rows<SearchHitRow>();

const IN_CHAT = `inbox.channel = outbox.channel and inbox.account = outbox.account
  and inbox.chat_id = outbox.chat_id`;
const TURN_OF_PEOPLE = `case when ${buildHasPeopleCondition('turn.conversation_id')} then turn.conversation_id end`;

/**
 * The conversation that shows a part: the conversation of its turn, if that takes place in the
 * part's chat. Otherwise the turn posted into another chat, and that chat's newest conversation
 * shows the part.
 */
const OF_PART = `coalesce(
  (select conversation_id from inbox where ${IN_CHAT}
    and inbox.conversation_id = ${TURN_OF_PEOPLE} limit 1),
  (select conversation_id from inbox where ${IN_CHAT} order by inbox.seq desc limit 1),
  ${TURN_OF_PEOPLE})`;

// Parts that other conversations posted into a deleted conversation keep their text, but are not
// shown anywhere.
const SENT = defineStatement(`
  select 'out' as direction, outbox.seq, created_at as at, body as stored, outbox.channel,
    outbox.chat_id as "chatId", ${OF_PART} as "conversationId"
  from search_entry join outbox on outbox.seq = search_entry./*sqlite rowid*//*pg id*/ / 2
  left join turn on turn.id = outbox.turn_id
  where ${MATCHES} and search_entry./*sqlite rowid*//*pg id*/ % 2 = 1 and outbox.seq < :before
    and outbox.seq > coalesce((select deleted_part from conversation
      where conversation.id = ${OF_PART}), 0)
  order by search_entry./*sqlite rowid*//*pg id*/ desc limit :limit`).rows<SearchHitRow>();
