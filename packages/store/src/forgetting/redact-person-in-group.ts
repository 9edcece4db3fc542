import { setImmediate as pause } from 'node:timers/promises';
import { z } from 'zod';
import {
  type Database,
  decodeJson,
  defineStatement,
  encodeJson,
  type ParameterValues,
  type Sql,
} from '../database.ts';
import { INBOX_COLUMNS, type InboxRow, MARKS, type MessageRow, readInboxRow } from '../rows.ts';
import {
  findCrossChatQuestions,
  forgetCrossChatQuestions,
  forgetParts,
  listPartsWithText,
  listTurns,
} from './carried-words.ts';
import { dropDeadLetters, removeText } from './copies.ts';
import { clearLaneText, sumCounts } from './empty-lane.ts';
import { FORGOTTEN_TABLES, type ForgottenTable, rewriteRows } from './forgotten-tables.ts';
import { createPhraseRedactor, type Redact } from './phrase-redactor.ts';

/**
 * How many of a person's newest messages are also removed from shared rows, and the minimum length
 * of such a message.
 */
const MAX_PHRASES = 500;
const MIN_PHRASE_LENGTH = 6;

/** A person whose text is removed from a group. */
export interface PersonInGroup {
  /** Ids of all of the person's accounts in Parley's format (`telegram:42`). */
  readonly persons: readonly string[];
  /** Rebuilds a turn's text in the history from the messages that other people wrote. */
  retell(messages: readonly InboxRow[]): unknown;
}

export interface PersonMessages {
  readonly isDirect: boolean;
  readonly seqs: number[];
  /** The platform's ids of these messages. */
  readonly messageIds: string[];
  readonly turns: Set<string>;
  readonly texts: string[];
}

export type RemovedCounts = { readonly rows: number; readonly cronJobs: number };

/**
 * Forgets one person in a group: other people's messages stay, and text that mixes several people's
 * messages is rebuilt from the rest or removed. The table registry defines how a person's rows are
 * found in each table (`ForgetRule.persons`).
 */
export async function redactPersonInGroup(
  database: Database,
  conversation: string,
  said: PersonMessages,
  { persons, retell }: PersonInGroup,
): Promise<RemovedCounts> {
  const { seqs, texts } = said;
  const mark = MARKS.forgotten;
  const lanes = await listSubAgentsOfTurns(database, [...said.turns]);
  const turns = [...said.turns, ...(await listTurns(database, lanes))];
  const elsewhere = await findCrossChatQuestions(database, turns, [conversation]);
  const parts = await listPartsWithText(database, { turns, seqs, people: [] });
  const lists = { turns: encodeJson(turns), seqs: encodeJson(seqs), persons: encodeJson(persons) };
  const values: ParameterValues = { conversation, ...lists };
  await dropDeadLetters(database, IS_TURN, 'id is null', values);
  await rewriteHistory(database, said, retell);
  let rows = await forgetQuotes(database, conversation, { said, persons, parts }, mark);
  rows += await forgetParts(database, parts, mark);
  const phrases = texts.filter((text) => text.length >= MIN_PHRASE_LENGTH).slice(-MAX_PHRASES);
  const without = createPhraseRedactor(phrases, mark);
  let cronJobs = 0;
  for (const lane of lanes) {
    // Sub-agents send to the group's chat, so their parts and files are already covered.
    const counts = await clearLaneText(database, lane, mark, {
      tables: ['outbox', 'agent_file'],
    });
    rows += sumCounts(counts, (table) => table !== 'inbox');
  }
  for (const table of FORGOTTEN_TABLES) {
    const count = await forgetInTable(database, table, values, { without, mark });
    if (table.table === 'cron_job') cronJobs += count;
    else if (table.table !== 'inbox') rows += count;
  }
  rows += await forgetCrossChatQuestions(database, elsewhere, phrases, mark);
  return { rows, cronJobs };
}

const IS_TURN = 'id in (select value from json_each(:turns))';

/** Removes a person's text from one table and returns the number of changed rows. */
async function forgetInTable(
  database: Database,
  table: ForgottenTable,
  values: ParameterValues,
  { without, mark }: { readonly without: Redact; readonly mark: string },
): Promise<number> {
  const { persons } = table;
  switch (persons.by) {
    case 'rows': {
      const removed = await removeText(database, table, { where: persons.where, values }, mark);
      if (persons.alsoPhrases !== true) return removed;
      return removed + (await removePhrases(database, table, values, without));
    }
    case 'phrases':
      return removePhrases(database, table, values, without);
    // The history has already been rewritten, and the parts have been found in all chats.
    case 'history':
    case 'parts':
      return 0;
  }
}

function removePhrases(
  database: Database,
  table: ForgottenTable,
  values: ParameterValues,
  without: Redact,
): Promise<number> {
  return database.write((sql) => rewriteRows(sql, table, { where: table.of, values }, without));
}

/**
 * Lists the lanes of the sub-agents that these turns started, directly or through other sub-agents.
 */
async function listSubAgentsOfTurns(
  database: Database,
  turns: readonly string[],
): Promise<readonly string[]> {
  const found = new Set<string>();
  for (let parents = turns; parents.length > 0; ) {
    const rows = await database.read((sql) => sql.all(STARTED, { turns: encodeJson(parents) }));
    const lanes = rows.map(({ lane }) => lane).filter((lane) => !found.has(lane));
    for (const lane of lanes) found.add(lane);
    parents = lanes.length === 0 ? [] : await listTurns(database, lanes);
  }
  return [...found];
}

const STARTED = defineStatement(`
  select conversation_id as lane from sub_agent
  where parent_turn in (select value from json_each(:turns))`).rows<{ readonly lane: string }>();

interface QuotableText {
  readonly said: PersonMessages;
  readonly persons: readonly string[];
  readonly parts: readonly string[];
}

const Quoting = z.object({
  channel: z.string(),
  replyTo: z
    .looseObject({
      messageId: z.string(),
      senderId: z.string().optional(),
      text: z.string().optional(),
    })
    .optional(),
  quotation: z.looseObject({ senderId: z.string().optional(), text: z.string() }).optional(),
});

/**
 * Platforms send a message together with the text that it quotes. Other people's messages stay,
 * without quotes from the person or from answers to the person.
 */
async function forgetQuotes(
  database: Database,
  conversation: string,
  { said, persons, parts }: QuotableText,
  mark: string,
): Promise<number> {
  const sent = await database.read((sql) => sql.all(SENT, { parts: encodeJson(parts) }));
  const quoted = new Set([...said.messageIds, ...sent.map(({ messageId }) => messageId)]);
  const wrote = (channel: string, senderId: string | undefined) =>
    persons.includes(`${channel}:${senderId ?? ''}`);
  const withoutThem = ({ channel, replyTo, quotation }: z.infer<typeof Quoting>) => ({
    ...(replyTo?.text !== undefined &&
      (quoted.has(replyTo.messageId) || wrote(channel, replyTo.senderId)) && {
        replyTo: { ...replyTo, text: mark },
      }),
    ...(quotation !== undefined &&
      wrote(channel, quotation.senderId) && { quotation: { ...quotation, text: mark } }),
  });
  return database.write(async (sql) => {
    let count = 0;
    for (const { seq, message } of await sql.all(QUOTING, { conversation })) {
      const stored = decodeJson(message);
      const found = Quoting.safeParse(stored).data;
      const changed = found === undefined ? {} : withoutThem(found);
      if (Object.keys(changed).length === 0) continue;
      sql.send(REWRITE, { seq, message: encodeJson({ ...Object(stored), ...changed }) });
      count += 1;
    }
    return count;
  });
}

const SENT = defineStatement(`
  select platform_message_id as "messageId" from outbox
  where id in (select value from json_each(:parts)) and platform_message_id is not null`).rows<{
  readonly messageId: string;
}>();

const QUOTING = defineStatement(`
  select seq, message from inbox
  where conversation_id = :conversation
    and (message like '%"replyTo"%' or message like '%"quotation"%')`).rows<{
  readonly seq: number;
  readonly message: string;
}>();

const REWRITE = defineStatement('update inbox set message = :message where seq = :seq');

/**
 * Rewrites the history of turns in which the person wrote: other people's text stays, and the
 * answer is removed together with the question.
 */
async function rewriteHistory(
  database: Database,
  { seqs, turns }: PersonMessages,
  retell: PersonInGroup['retell'],
): Promise<void> {
  const theirs = new Set(seqs);
  for (const turn of turns) {
    await database.write((sql) => rewriteTurn(sql, turn, theirs, retell));
    await pause();
  }
}

async function rewriteTurn(
  sql: Sql,
  turn: string,
  theirs: ReadonlySet<number>,
  retell: PersonInGroup['retell'],
): Promise<void> {
  const rows = await sql.all(MESSAGES, { turn });
  const others = rows.filter(({ seq }) => !theirs.has(seq)).map(readInboxRow);
  const question = (await sql.get(QUESTION, { turn }))?.seq;
  const kept = others.length === 0 ? 0 : (question ?? 0);
  sql.send(FORGET_OTHERS, { turn, kept });
  if (kept !== 0) sql.send(REWRITE_QUESTION, { kept, content: encodeJson(retell(others)) });
}

const MESSAGES = defineStatement(
  `select ${INBOX_COLUMNS} from inbox where turn_id = :turn order by seq`,
).rows<MessageRow>();

const QUESTION = defineStatement(`
  select seq from transcript where turn_id = :turn and role = 'user' order by seq limit 1`).rows<
  Pick<MessageRow, 'seq'>
>();

const FORGET_OTHERS = defineStatement(
  'delete from transcript where turn_id = :turn and seq <> :kept',
);

const REWRITE_QUESTION = defineStatement(
  'update transcript set content = :content where seq = :kept',
);
