import { defineStatement, encodeJson, type Sql } from './database.ts';
import {
  DEAD_LETTER,
  type DeadLetter,
  type DeadLetterPage,
  type DeadLetterRow,
  type DeadPart,
  type DeadTurn,
  type UnansweredMessage,
} from './dead-letter-rows.ts';
import { OUTBOX_COLUMNS, type PartRow, type PartState, readPart } from './outbox-parts.ts';
import { INBOX_COLUMNS, type MessageRow, readInboxRow } from './rows.ts';

// Uses the index `dead_letter_open`.
const OPEN = 'from dead_letter where settled is null';

const OPEN_DEAD_LETTERS = defineStatement(
  `select * ${OPEN} and seq < :before order by seq desc limit :limit`,
).rows<DeadLetterRow>();

export async function listOpenDeadLetters(
  sql: Sql,
  { before = Number.MAX_SAFE_INTEGER, limit }: DeadLetterPage,
): Promise<readonly DeadLetter[]> {
  return attachDeadLetterSubjects(sql, await sql.all(OPEN_DEAD_LETTERS, { before, limit }));
}

const OPEN_IDS = defineStatement(`
  select seq ${OPEN} and kind in (select value from json_each(:kinds)) and seq > :after
  order by seq limit :limit`).rows<Pick<DeadLetterRow, 'seq'>>();

/** Lists the numbers of the oldest open dead letters of these kinds. */
export async function listOpenDeadLetterIds(
  sql: Sql,
  kinds: readonly DeadLetter['kind'][],
  after: number,
  limit: number,
): Promise<readonly number[]> {
  const rows = await sql.all(OPEN_IDS, { kinds: encodeJson(kinds), after, limit });
  return rows.map(({ seq }) => seq);
}

/** Finds one dead letter, settled or not. */
export async function findDeadLetter(sql: Sql, id: number): Promise<DeadLetter | null> {
  const [letter] = await attachDeadLetterSubjects(sql, await sql.all(DEAD_LETTER, { id }));
  return letter ?? null;
}

const COUNTS = defineStatement(`select kind, count(*) as count ${OPEN} group by kind`).rows<{
  readonly kind: DeadLetter['kind'];
  readonly count: number;
}>();

/** Counts open dead letters by kind. */
export async function countOpenDeadLetters(
  sql: Sql,
): Promise<Readonly<Record<DeadLetter['kind'], number>>> {
  const counts = { refused: 0, uncertain: 0, unanswered: 0 };
  for (const { kind, count } of await sql.all(COUNTS)) counts[kind] = count;
  return counts;
}

/** Adds the affected part or turn to each row, keeping the order of the rows. */
async function attachDeadLetterSubjects(
  sql: Sql,
  rows: readonly DeadLetterRow[],
): Promise<readonly DeadLetter[]> {
  const ids = encodeJson(rows.map(({ subject }) => subject));
  const parts = new Map((await sql.all(PARTS, { ids })).map((part) => [part.id, part]));
  const turns = new Map((await sql.all(TURNS, { ids })).map((turn) => [turn.turnId, turn]));
  const messages = (await sql.all(MESSAGES, { ids })).map(toUnansweredMessage);
  return rows.flatMap((row): DeadLetter[] => {
    if (row.kind !== 'unanswered') {
      const part = parts.get(row.subject);
      return part === undefined
        ? []
        : [{ ...toCommonFields(row), kind: row.kind, ...toDeadPart(part) }];
    }
    const turn = turns.get(row.subject);
    if (turn === undefined) return [];
    const its = messages.filter(({ turnId }) => turnId === turn.turnId);
    return [
      {
        ...toCommonFields(row),
        kind: row.kind,
        ...turn,
        messages: its.map(({ message }) => message),
      },
    ];
  });
}

function toCommonFields({ seq, died_at, settled, settled_at }: DeadLetterRow) {
  return {
    id: seq,
    diedAt: died_at,
    settled: settled === null ? null : { how: settled, at: settled_at ?? died_at },
  };
}

interface StoredPart extends PartRow {
  readonly channel: string;
  readonly account: string;
  readonly chat_id: string;
  readonly conversation_id: string | null;
  readonly state: PartState;
  readonly error: string | null;
}

const PARTS = defineStatement(`
  select ${OUTBOX_COLUMNS}, channel, account, chat_id, state, error,
    (select conversation_id from turn where turn.id = outbox.turn_id) as conversation_id
  from outbox where id in (select value from json_each(:ids))`).rows<StoredPart>();

function toDeadPart(
  part: StoredPart,
): Omit<DeadPart, 'kind' | keyof ReturnType<typeof toCommonFields>> {
  const { channel, account, chat_id: chatId, turn_id: turnId, state, error: reason } = part;
  const { index, body, file } = readPart(part);
  return {
    partId: part.id,
    chat: { channel, account, chatId },
    conversationId: part.conversation_id,
    ...{ turnId, index, text: body.plain, file: file?.name ?? null, state, reason },
  };
}

const TURNS = defineStatement(`
  select id as "turnId", conversation_id as "conversationId", reason,
    (select count(*) from turn_step where turn_id = turn.id) as steps
  from turn where id in (select value from json_each(:ids))`).rows<
  Pick<DeadTurn, 'turnId' | 'conversationId' | 'reason' | 'steps'>
>();

const MESSAGES = defineStatement(`
  select ${INBOX_COLUMNS}, turn_id from inbox
  where turn_id is not null and turn_id in (select value from json_each(:ids))
  order by seq`).rows<MessageRow & { readonly turn_id: string }>();

function toUnansweredMessage(row: MessageRow & { readonly turn_id: string }) {
  const { message, receivedAt: at } = readInboxRow(row);
  const { channel, account, messageId, sender, text } = message;
  const chat = { channel, account, chatId: message.chat.id };
  const written: UnansweredMessage = { messageId, chat, from: sender.name, text, at };
  return { turnId: row.turn_id, message: written };
}
