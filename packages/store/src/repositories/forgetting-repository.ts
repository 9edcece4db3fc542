import { sql as raw } from 'kysely';
import type { Database, Sql } from '../database.ts';
import type { Forgetting, ForgettingRepository, Forgotten } from '../forgetting.ts';
import { fromJson, toJson } from '../json-column.ts';
import { forgetInPrompts } from './forget-in-prompts.ts';
import { forgetInWork } from './forget-in-work.ts';
import { type Change, changed, inPlain } from './rewritten-rows.ts';
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
  return database.read(async (sql) => {
    const owners = ownersToo
      ? await sql
          .selectFrom('inbox')
          .select('conversation_id')
          .distinct()
          .where('from_owner', '=', 1)
          .execute()
      : [];
    const own = [...conversations, ...owners.map((row) => row.conversation_id)];
    // What was handed on went on in conversations of its own.
    const handedOn = await sql
      .selectFrom('sub_agent')
      .select('conversation_id')
      .where('root_conversation', 'in', own)
      .execute();
    return [...new Set([...own, ...handedOn.map((row) => row.conversation_id)])];
  });
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
      (await inPins(sql, conversation, change)) +
      (await inSummaries(sql, conversation, change)) +
      (await forgetInWork(sql, conversation, change)),
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
