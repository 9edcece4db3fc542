import { type Database, defineDynamicStatement, defineStatement, encodeJson } from '../database.ts';
import { deleteRows, dropDeadLetters, forgetInPrompts, removeText } from './copies.ts';
import { getForgottenTable } from './forgotten-tables.ts';
import { createPhraseRedactor } from './phrase-redactor.ts';

/** Whose text to look for: turns, messages (by `seq`) and people (`telegram:42`). */
export interface TextSelection {
  readonly turns: readonly string[];
  readonly seqs: readonly number[];
  readonly people: readonly string[];
}

/** SQL for a list of numbers bound as JSON. */
export const NUMBERS = 'select cast(value as bigint) from json_each(:seqs)';

/** Lists the turns in these lanes. */
export async function listTurns(
  database: Database,
  lanes: readonly string[],
): Promise<readonly string[]> {
  const rows = await database.read((sql) => sql.all(TURNS, { lanes: encodeJson(lanes) }));
  return rows.map(({ id }) => id);
}

const TURNS = defineStatement(`
  select id from turn where conversation_id in (select value from json_each(:lanes))`).rows<{
  readonly id: string;
}>();

/**
 * Lists the ids of the parts that contain this text, in any chat. A question about an approval, for
 * example, is sent to the owner's chat, where the person who caused it never wrote.
 */
export async function listPartsWithText(
  database: Database,
  { turns, seqs, people }: TextSelection,
): Promise<readonly string[]> {
  const lists = { turns: encodeJson(turns), seqs: encodeJson(seqs) };
  const sources = new Set([...turns, ...people]);
  return database.read(async (sql) => {
    const named = (await sql.all(NAMED)).filter(({ about }) =>
      about.split('\n').some((source) => sources.has(source)),
    );
    const others = await sql.all(OF_SOURCES, lists);
    return [...new Set([...named, ...others].map(({ id }) => id))];
  });
}

const NAMED = defineStatement("select id, about from outbox where about <> ''").rows<{
  readonly id: string;
  readonly about: string;
}>();

// Earlier versions did not record whose text a part contains, so every such part in a chat where a
// turn asked a question is included.
const OF_SOURCES = defineDynamicStatement(`
  select id from outbox
  where turn_id in (select value from json_each(:turns)) or answers in (${NUMBERS})
    or (about is null and turn_id is null and answers is null and notice_of is null
      and (channel, account, chat_id) in (
        select inbox.channel, inbox.account, inbox.chat_id from inbox join approval
          on inbox.conversation_id = coalesce(approval.asked_in, approval.conversation_id)
        where approval.turn_id in (select value from json_each(:turns))))`).rows<{
  readonly id: string;
}>();

/**
 * Empties parts, and removes their files, their dead letters and their text in the next turn's
 * context.
 */
export async function forgetParts(
  database: Database,
  ids: readonly string[],
  mark: string,
): Promise<number> {
  if (ids.length === 0) return 0;
  const values = { parts: encodeJson(ids) };
  await dropDeadLetters(database, 'id is null', IS_PART, values);
  const notes = { where: NOTES, values };
  let rows = await deleteRows(database, 'group_context', notes);
  rows += await deleteRows(database, 'agent_file', { where: `part_id ${IN_PARTS}`, values });
  return (
    rows +
    (await removeText(database, getForgottenTable('outbox'), { where: IS_PART, values }, mark))
  );
}

const IN_PARTS = 'in (select value from json_each(:parts))';

const IS_PART = `id ${IN_PARTS}`;

/** The ids of Parley's own messages in group context: the id of a part, or the key of a post. */
const NOTES = `message_id in (select 'own ' || value from json_each(:parts)
  union all select 'own ' || substr(value, 6, length(value) - 7) from json_each(:parts)
    where value like 'post:%.0')`;

/**
 * The questions that turns asked people outside their own conversations, with the text as it was
 * shown.
 */
export interface CrossChatQuestions {
  readonly conversations: readonly string[];
  readonly shown: readonly string[];
}

export async function findCrossChatQuestions(
  database: Database,
  turns: readonly string[],
  own: readonly string[],
): Promise<CrossChatQuestions> {
  const rows = await database.read((sql) => sql.all(ASKED, { turns: encodeJson(turns) }));
  const elsewhere = rows.filter(({ askedIn }) => !own.includes(askedIn));
  return {
    conversations: [...new Set(elsewhere.map(({ askedIn }) => askedIn))],
    shown: elsewhere.map(({ shown }) => shown),
  };
}

const ASKED = defineStatement(`
  select coalesce(asked_in, conversation_id) as "askedIn", shown from approval
  where turn_id in (select value from json_each(:turns))`).rows<{
  readonly askedIn: string;
  readonly shown: string;
}>();

/**
 * Removes text that was shown in other chats, and a person's own text, from the prompts that those
 * chats recorded.
 */
export async function forgetCrossChatQuestions(
  database: Database,
  { conversations, shown }: CrossChatQuestions,
  texts: readonly string[],
  mark: string,
): Promise<number> {
  if (conversations.length === 0) return 0;
  const without = createPhraseRedactor([...shown, ...texts], mark);
  return database.write((sql) => forgetInPrompts(sql, conversations, without));
}
