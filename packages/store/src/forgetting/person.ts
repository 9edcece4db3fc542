import { setImmediate as pause } from 'node:timers/promises';
import { getConversationAgent } from '@parley/core';
import { z } from 'zod';
import { COPIED } from '../branches.ts';
import { lockConversation } from '../conversations.ts';
import {
  type Database,
  decodeJson,
  defineDynamicStatement,
  defineStatement,
  encodeJson,
} from '../database.ts';
import { MARKS, type MessageRow } from '../rows.ts';
import { stopLane, stopSubAgents } from '../stop.ts';
import { OF_CONVERSATION } from '../tables/conditions.ts';
import {
  findCrossChatQuestions,
  forgetCrossChatQuestions,
  forgetParts,
  listPartsWithText,
  listTurns,
  NUMBERS,
} from './carried-words.ts';
import {
  BATCH,
  buildDeadLetterDeletion,
  deleteRows,
  dropDeadLetters,
  dropUnusedPromptTexts,
} from './copies.ts';
import { clearLaneText, sumCounts } from './empty-lane.ts';
import { getForgottenTable } from './forgotten-tables.ts';
import {
  type PersonInGroup,
  type PersonMessages,
  type RemovedCounts,
  redactPersonInGroup,
} from './redact-person-in-group.ts';

/** A request to forget a person's messages. */
export interface PersonForgetRequest extends PersonInGroup {
  /**
   * Set for an owner; messages that any owner wrote in a direct chat with the agent are then
   * forgotten too.
   */
  readonly ownersToo: boolean;
  /** The only conversation to clear; null to clear every conversation in which they wrote. */
  readonly only: string | null;
  /** The time of the request, in ms. */
  readonly now: number;
  /**
   * Called for each lane whose turn was stopped, before its rows are removed, to notify the worker.
   */
  onStopped(conversationId: string): void;
}

export interface PersonForgetResult {
  /**
   * The number of conversations that are now empty; `groups` counts the groups in which other
   * people's messages stay.
   */
  readonly whole: number;
  readonly groups: number;
  /** The number of messages that lost their text and files. */
  readonly messages: number;
  /**
   * The number of all other rows that were removed or emptied: history, answers, steps, summaries,
   * prompts …
   */
  readonly rows: number;
  readonly cronJobs: number;
  /** The longest pieces of forgotten text, used to check the database files afterwards. */
  readonly samples: readonly string[];
}

/**
 * How many pieces of text are searched for afterwards, and how long a piece must be to be specific
 * enough.
 */
const SAMPLES = 20;

const SAMPLE_LENGTH = 12;

/** Forgets everything that a person has written to an agent (G15), one conversation at a time. */
export async function forgetPerson(
  database: Database,
  forgetting: PersonForgetRequest,
  agent: string | undefined,
): Promise<PersonForgetResult> {
  const said = await findPersonMessages(database, forgetting, agent);
  const all = [...said];
  const { now } = forgetting;
  for (const [conversation, one] of all) {
    const stop = one.isDirect ? stopAllTurns : stopTurnsOfPerson;
    for (const lane of await stop(database, conversation, one, now)) forgetting.onStopped(lane);
  }
  const sums = { rows: 0, cronJobs: 0 };
  for (const [conversation, one] of all) {
    const removed = one.isDirect
      ? await emptyConversation(database, conversation, one)
      : await redactPersonInGroup(database, conversation, one, forgetting);
    sums.rows += removed.rows;
    sums.cronJobs += removed.cronJobs;
  }
  await dropUnusedPromptTexts(database);
  await forgetTraces(database, forgetting);
  const samples = all
    .flatMap(([, { texts }]) => texts)
    .filter((text) => text.length >= SAMPLE_LENGTH)
    .sort((one, other) => other.length - one.length);
  return {
    ...sums,
    whole: all.filter(([, { isDirect }]) => isDirect).length,
    groups: all.filter(([, { isDirect }]) => !isDirect).length,
    messages: all.reduce((sum, [, { seqs }]) => sum + seqs.length, 0),
    samples: [...new Set(samples)].slice(0, SAMPLES),
  };
}

const Message = z.object({
  messageId: z.string(),
  text: z.string(),
  chat: z.object({ type: z.string() }),
  sender: z.object({ id: z.string() }),
});

/** No column identifies the author of a message, so all messages are read in small batches. */
async function findPersonMessages(
  database: Database,
  { persons, ownersToo, only }: PersonForgetRequest,
  agent: string | undefined,
): Promise<ReadonlyMap<string, PersonMessages>> {
  const said = new Map<string, PersonMessages>();
  const some = selectMessagesAfter(only !== null ? 'lane' : ownersToo ? 'all' : 'channels');
  const channels = encodeJson(persons.map((person) => person.split(':', 1).join()));
  const of = (conversation: string, isDirect: boolean): PersonMessages => {
    const known = said.get(conversation) ?? {
      isDirect,
      seqs: [],
      messageIds: [],
      turns: new Set(),
      texts: [],
    };
    said.set(conversation, known);
    return known;
  };
  for (let after = 0; ; ) {
    const rows = await database.read((sql) => sql.all(some, { after, only, channels }));
    for (const row of rows) {
      const { messageId, text, chat, sender } = Message.parse(decodeJson(row.message));
      const isTheirs =
        persons.includes(`${row.channel}:${sender.id}`) || (ownersToo && row.from_owner === 1);
      if (!isTheirs || getConversationAgent(row.conversation_id) !== agent) continue;
      const one = of(row.conversation_id, chat.type === 'direct');
      one.seqs.push(row.seq);
      one.messageIds.push(messageId);
      one.texts.push(text);
      if (row.turn_id !== null) one.turns.add(row.turn_id);
    }
    after = rows.at(-1)?.seq ?? after;
    await pause();
    if (rows.length < BATCH) break;
  }
  const heard = await database.read((sql) =>
    sql.all(GROUP_CONTEXT_OF_PERSON, { persons: encodeJson(persons), only }),
  );
  for (const { conversation_id, text } of heard) {
    if (getConversationAgent(conversation_id) === agent)
      of(conversation_id, false).texts.push(text);
  }
  return said;
}

const AMONG = {
  lane: ' and conversation_id = :only',
  channels: ' and channel in (select value from json_each(:channels))',
  all: '',
} as const;

function selectMessagesAfter(among: keyof typeof AMONG) {
  return defineDynamicStatement(`select seq, conversation_id, channel, message, turn_id,
      case when reason = '${COPIED}' then 1 else from_owner end as from_owner from inbox
    where seq > :after${AMONG[among]} order by seq limit ${BATCH}`).rows<
    Pick<MessageRow, 'seq' | 'conversation_id' | 'message' | 'from_owner'> & {
      readonly channel: string;
      readonly turn_id: string | null;
    }
  >();
}

const IS_THEIRS = "channel || ':' || sender_id in (select value from json_each(:persons))";

const GROUP_CONTEXT_OF_PERSON =
  defineDynamicStatement(`select conversation_id, text from group_context
  where ${IS_THEIRS} and (conversation_id = :only or :only is null)`).rows<{
    readonly conversation_id: string;
    readonly text: string;
  }>();

/**
 * Empties a direct chat and its sub-agents' lanes, together with questions asked about it in other
 * chats.
 */
async function emptyConversation(
  database: Database,
  conversation: string,
  { seqs, texts }: PersonMessages,
): Promise<RemovedCounts> {
  const subAgents = await listSubAgentLanes(database, conversation);
  const lanes = [...subAgents, conversation];
  const turns = await listTurns(database, lanes);
  const elsewhere = await findCrossChatQuestions(database, turns, lanes);
  const parts = await listPartsWithText(database, { turns, seqs, people: [] });
  let rows = await forgetParts(database, parts, MARKS.forgotten);
  const phrases = texts.filter((text) => text.length >= SAMPLE_LENGTH);
  rows += await forgetCrossChatQuestions(database, elsewhere, phrases, MARKS.forgotten);
  let cronJobs = 0;
  for (const lane of lanes) {
    await dropDeadLetters(database, OF_CONVERSATION, getForgottenTable('outbox').of, {
      conversation: lane,
    });
    const counts = await clearLaneText(database, lane, MARKS.forgotten);
    cronJobs += counts.get('cron_job') ?? 0;
    rows += sumCounts(counts, (table) => table !== 'cron_job' && table !== 'inbox');
  }
  return { rows, cronJobs };
}

async function stopAllTurns(
  database: Database,
  conversation: string,
  _said: PersonMessages,
  now: number,
): Promise<readonly string[]> {
  return database.write(async (sql) => {
    await lockConversation(sql, conversation);
    await sql.run(DROP_ALL_LETTERS, { conversation });
    const subAgents = await stopSubAgents(sql, conversation, now);
    const { stoppedTurn } = await stopLane(sql, conversation, now);
    return [...subAgents, ...(stoppedTurn === null ? [] : [conversation])];
  });
}

/**
 * Stops a turn only if the person takes part in it; other people's messages in that turn wait for
 * the next one.
 */
async function stopTurnsOfPerson(
  database: Database,
  conversation: string,
  { seqs, turns }: Pick<PersonMessages, 'seqs' | 'turns'>,
  now: number,
): Promise<readonly string[]> {
  return database.write(async (sql) => {
    await lockConversation(sql, conversation);
    await sql.run(DROP_THEIR_LETTERS, { turns: encodeJson([...turns]) });
    const running = await sql.get(RUNNING, { conversation });
    sql.send(STOP, { seqs: encodeJson(seqs), now });
    if (running === undefined || !turns.has(running.id)) return [];
    const waiting = await sql.all(UNDONE, { conversation, turnId: running.id });
    const lanes = await stopSubAgents(sql, conversation, now);
    await stopLane(sql, conversation, now);
    const theirs = new Set(seqs);
    const others = waiting.map(({ seq }) => seq).filter((seq) => !theirs.has(seq));
    sql.send(RETURN_MESSAGES_TO_INBOX, { seqs: encodeJson(others) });
    return [...lanes, conversation];
  });
}

const DROP_ALL_LETTERS = buildDeadLetterDeletion(OF_CONVERSATION, getForgottenTable('outbox').of);

const DROP_THEIR_LETTERS = buildDeadLetterDeletion(
  'id in (select value from json_each(:turns))',
  'id is null',
);

const RUNNING = defineStatement(`
  select id from turn where conversation_id = :conversation and state = 'running'`).rows<{
  readonly id: string;
}>();

const STOP = defineStatement(`
  update inbox set state = 'done', outcome = 'stopped', done_at = :now
  where seq in (${NUMBERS}) and state = 'waiting'`);

const UNDONE = defineStatement(`
  select seq from inbox
  where conversation_id = :conversation and (state = 'waiting' or turn_id = :turnId)`).rows<
  Pick<MessageRow, 'seq'>
>();

const RETURN_MESSAGES_TO_INBOX = defineStatement(`
  update inbox
  set state = 'waiting', outcome = null, turn_id = null, claimed_at = null, done_at = null
  where seq in (${NUMBERS})`);

/** Lists the lanes of all sub-agents below a conversation. */
export async function listSubAgentLanes(
  database: Database,
  root: string,
): Promise<readonly string[]> {
  return (await database.read((sql) => sql.all(SUB_AGENTS, { root }))).map(({ lane }) => lane);
}

const SUB_AGENTS = defineStatement(`
  select conversation_id as lane from sub_agent where root_conversation = :root`).rows<{
  readonly lane: string;
}>();

/**
 * Removes the decisions to refuse a person's messages, and notices that name the person, such as
 * access requests.
 */
async function forgetTraces(
  database: Database,
  { persons, only }: PersonForgetRequest,
): Promise<void> {
  if (only !== null) return;
  const values = { persons: encodeJson(persons) };
  await deleteRows(database, 'ingress_decision', { where: IS_THEIRS, values });
  const notices = await listPartsWithText(database, { turns: [], seqs: [], people: persons });
  await forgetParts(database, notices, MARKS.forgotten);
}
