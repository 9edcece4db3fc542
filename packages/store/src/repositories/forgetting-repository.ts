import { sql as raw } from 'kysely';
import type { Database, Sql } from '../database.ts';
import type { Forgetting, ForgettingRepository, Forgotten } from '../forgetting.ts';
import { fromJson, toJson } from '../json-column.ts';
import { forgetInPrompts } from './forget-in-prompts.ts';
import { withoutWords } from './without-words.ts';

/** Forgetting on SQL. Rows are read and changed one table at a time, so that others wait only shortly. */
export function forgettingRepository(
  database: Database,
  promptsChanged: () => void,
): ForgettingRepository {
  return {
    async forget(forgetting) {
      // What is taken out is overwritten on the disk, not only given free.
      await onSqlite(database, 'pragma secure_delete = on');
      const conversations = await conversationsOf(database, forgetting);
      const without = withoutWords(forgetting.words, forgetting.mark);
      const change = (stored: string): string | null => {
        const before = fromJson(stored);
        const after = without(before);
        return after === before ? null : toJson(after);
      };
      const found = { history: 0, messages: 0, answers: 0, steps: 0, pins: 0, prompts: 0 };
      for (const conversation of conversations) {
        for (const [what, rows] of Object.entries(
          await inConversation(database, conversation, change),
        )) {
          if (isPart(what)) found[what] += rows;
        }
      }
      found.prompts = await database.write((sql) => forgetInPrompts(sql, conversations, without));
      promptsChanged();
      // Old pages lie in the log until it is written back.
      await onSqlite(database, 'pragma wal_checkpoint(truncate)');
      return found;
    },
  };
}

type Change = (stored: string) => string | null;

function isPart(what: string): what is keyof Forgotten {
  return ['history', 'messages', 'answers', 'steps', 'pins'].includes(what);
}

async function onSqlite(database: Database, statement: string): Promise<void> {
  if (database.dialect !== 'sqlite') return;
  await database.read((sql) => raw.raw(statement).execute(sql));
}

async function conversationsOf(
  database: Database,
  { conversations, ownersToo }: Forgetting,
): Promise<readonly string[]> {
  if (!ownersToo) return [...new Set(conversations)];
  const rows = await database.read((sql) =>
    sql
      .selectFrom('inbox')
      .select('conversation_id')
      .distinct()
      .where('from_owner', '=', 1)
      .execute(),
  );
  return [...new Set([...conversations, ...rows.map((row) => row.conversation_id)])];
}

/** One transaction for each conversation. */
function inConversation(
  database: Database,
  conversation: string,
  change: Change,
): Promise<Omit<Forgotten, 'prompts'>> {
  return database.write(async (sql) => ({
    history: await inHistory(sql, conversation, change),
    messages:
      (await inMessages(sql, conversation, change)) +
      (await inOverheard(sql, conversation, change)) +
      (await inRecordings(sql, conversation, change)),
    answers: await inAnswers(sql, conversation, change),
    steps: await inSteps(sql, conversation, change),
    pins:
      (await inPins(sql, conversation, change)) + (await inSummaries(sql, conversation, change)),
  }));
}

async function inHistory(sql: Sql, conversation: string, change: Change): Promise<number> {
  const rows = await sql
    .selectFrom('transcript')
    .select(['seq', 'content'])
    .where('conversation_id', '=', conversation)
    .execute();
  return changed(
    rows,
    ({ content }) => change(content),
    ({ seq }, content) =>
      sql.updateTable('transcript').set({ content }).where('seq', '=', seq).execute(),
  );
}

async function inMessages(sql: Sql, conversation: string, change: Change): Promise<number> {
  const rows = await sql
    .selectFrom('inbox')
    .select(['seq', 'message'])
    .where('conversation_id', '=', conversation)
    .execute();
  return changed(
    rows,
    ({ message }) => change(message),
    ({ seq }, message) =>
      sql.updateTable('inbox').set({ message }).where('seq', '=', seq).execute(),
  );
}

async function inOverheard(sql: Sql, conversation: string, change: Change): Promise<number> {
  const rows = await sql
    .selectFrom('overheard')
    .select(['seq', 'text'])
    .where('conversation_id', '=', conversation)
    .execute();
  return changed(
    rows,
    ({ text }) => inPlain(text, change),
    ({ seq }, text) => sql.updateTable('overheard').set({ text }).where('seq', '=', seq).execute(),
  );
}

/** What was heard in voice messages. */
async function inRecordings(sql: Sql, conversation: string, change: Change): Promise<number> {
  const rows = await sql
    .selectFrom('attachment')
    .innerJoin('inbox', 'inbox.seq', 'attachment.inbox_seq')
    .select(['inbox_seq', 'attachment_index', 'text'])
    .where('inbox.conversation_id', '=', conversation)
    .where('text', 'is not', null)
    .execute();
  return changed(
    rows,
    ({ text }) => inPlain(text ?? '', change),
    (row, text) =>
      sql
        .updateTable('attachment')
        .set({ text })
        .where('inbox_seq', '=', row.inbox_seq)
        .where('attachment_index', '=', row.attachment_index)
        .execute(),
  );
}

function inPlain(text: string, change: Change): string | null {
  const after = change(toJson(text));
  return after === null ? null : String(fromJson(after));
}

/** What went to the chats of the conversation, answers to commands included. */
async function inAnswers(sql: Sql, conversation: string, change: Change): Promise<number> {
  const chats = await sql
    .selectFrom('inbox')
    .select(['channel', 'account', 'chat_id'])
    .distinct()
    .where('conversation_id', '=', conversation)
    .execute();
  let count = 0;
  for (const { channel, account, chat_id: chatId } of chats) {
    const rows = await sql
      .selectFrom('outbox')
      .select(['id', 'body'])
      .where('channel', '=', channel)
      .where('account', '=', account)
      .where('chat_id', '=', chatId)
      .execute();
    count += await changed(
      rows,
      ({ body }) => change(body),
      ({ id }, body) => sql.updateTable('outbox').set({ body }).where('id', '=', id).execute(),
    );
  }
  return count;
}

async function inSteps(sql: Sql, conversation: string, change: Change): Promise<number> {
  const rows = await sql
    .selectFrom('turn_step')
    .innerJoin('turn', 'turn.id', 'turn_step.turn_id')
    .select(['turn_step.turn_id', 'turn_step.step_index', 'turn_step.content'])
    .where('turn.conversation_id', '=', conversation)
    .execute();
  return changed(
    rows,
    ({ content }) => change(content),
    (row, content) =>
      sql
        .updateTable('turn_step')
        .set({ content })
        .where('turn_id', '=', row.turn_id)
        .where('step_index', '=', row.step_index)
        .execute(),
  );
}

async function inPins(sql: Sql, conversation: string, change: Change): Promise<number> {
  const rows = await sql
    .selectFrom('session_pin')
    .select(['session', 'pin_key', 'content'])
    .where('conversation_id', '=', conversation)
    .execute();
  return changed(
    rows,
    ({ content }) => change(content),
    (row, content) =>
      sql
        .updateTable('session_pin')
        .set({ content })
        .where('conversation_id', '=', conversation)
        .where('session', '=', row.session)
        .where('pin_key', '=', row.pin_key)
        .execute(),
  );
}

/** A summary is made of what was said and may say it again. */
async function inSummaries(sql: Sql, conversation: string, change: Change): Promise<number> {
  const rows = await sql
    .selectFrom('summary')
    .select(['seq', 'content'])
    .where('conversation_id', '=', conversation)
    .where('content', 'is not', null)
    .execute();
  return changed(
    rows,
    ({ content }) => (content === null ? null : change(content)),
    ({ seq }, content) =>
      sql.updateTable('summary').set({ content }).where('seq', '=', seq).execute(),
  );
}

/** Writes those rows back whose text is another now; how many these are. */
async function changed<Row>(
  rows: readonly Row[],
  textOf: (row: Row) => string | null,
  write: (row: Row, text: string) => Promise<unknown>,
): Promise<number> {
  let count = 0;
  for (const row of rows) {
    const text = textOf(row);
    if (text === null) continue;
    await write(row, text);
    count += 1;
  }
  return count;
}
