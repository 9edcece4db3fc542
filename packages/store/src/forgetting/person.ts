import { setImmediate as pause } from 'node:timers/promises';
import { agentOfConversation } from '@parley/core';
import { z } from 'zod';
import { stopLane, stopSubAgents } from '../commands.ts';
import { lockConversation } from '../conversations.ts';
import { composed, type Database, fromJson, statement, toJson, type Values } from '../database.ts';
import { REACTION_PREFIX } from '../reactions.ts';
import { INBOX_COLUMNS, type MessageRow, readInboxRow } from '../rows.ts';
import { BATCH, deleteRows, dropDeadLetters, dropUnusedTexts, emptyRows } from './copies.ts';
import type { PersonForgetting, PersonForgotten } from './forgetting.ts';
import { FORGET_PLACES, phraseRedactor, placeOf, rewriteRows } from './places.ts';

/** Texts to look for afterwards, and how long one must be to be theirs beyond doubt. */
const SAMPLES = 20;

const SAMPLE_LENGTH = 12;

/** Most texts that are also taken out of what mixes voices in a group and stays, and the shortest. */
const MOST_WORDS = 500;

const SHORTEST_WORD = 6;

/** What a person wrote in one conversation. */
interface Said {
  readonly isDirect: boolean;
  readonly seqs: number[];
  readonly turns: Set<string>;
  readonly texts: string[];
}

type Removed = Pick<PersonForgotten, 'rows' | 'cronJobs'>;

/** Forgets all that a person has said to an agent (G15), conversation by conversation. */
export async function forgetPerson(
  database: Database,
  forgetting: PersonForgetting,
  agent: string | undefined,
): Promise<PersonForgotten> {
  const said = await whatTheySaid(database, forgetting, agent);
  const all = [...said];
  const { now } = forgetting;
  for (const [conversation, one] of all) {
    const stop = one.isDirect ? stopAll : stopTheirs;
    for (const lane of await stop(database, conversation, one, now)) forgetting.onStopped(lane);
  }
  const sums = { rows: 0, cronJobs: 0 };
  for (const [conversation, one] of all) {
    const removed = one.isDirect
      ? await emptyConversation(database, conversation, forgetting)
      : await leaveGroup(database, conversation, one, forgetting);
    sums.rows += removed.rows;
    sums.cronJobs += removed.cronJobs;
  }
  await dropUnusedTexts(database);
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
  text: z.string(),
  chat: z.object({ type: z.string() }),
  sender: z.object({ id: z.string() }),
});

/** No column says who wrote a message, so all are looked through, a few at a time. */
async function whatTheySaid(
  database: Database,
  { persons, ownersToo, only }: PersonForgetting,
  agent: string | undefined,
): Promise<ReadonlyMap<string, Said>> {
  const said = new Map<string, Said>();
  const some = messagesAfter(only !== null ? 'lane' : ownersToo ? 'all' : 'channels');
  const channels = toJson(persons.map((person) => person.split(':', 1).join()));
  const of = (conversation: string, isDirect: boolean): Said => {
    const known = said.get(conversation) ?? { isDirect, seqs: [], turns: new Set(), texts: [] };
    said.set(conversation, known);
    return known;
  };
  for (let after = 0; ; ) {
    const rows = await database.read((sql) => sql.all(some, { after, only, channels }));
    for (const row of rows) {
      const { text, chat, sender } = Message.parse(fromJson(row.message));
      const isTheirs =
        persons.includes(`${row.channel}:${sender.id}`) || (ownersToo && row.from_owner === 1);
      if (!isTheirs || agentOfConversation(row.conversation_id) !== agent) continue;
      const one = of(row.conversation_id, chat.type === 'direct');
      one.seqs.push(row.seq);
      one.texts.push(text);
      if (row.turn_id !== null) one.turns.add(row.turn_id);
    }
    after = rows.at(-1)?.seq ?? after;
    await pause();
    if (rows.length < BATCH) break;
  }
  const heard = await database.read((sql) => sql.all(HEARD, { persons: toJson(persons), only }));
  for (const { conversation_id, text } of heard) {
    if (agentOfConversation(conversation_id) === agent) of(conversation_id, false).texts.push(text);
  }
  return said;
}

const AMONG = {
  lane: ' and conversation_id = :only',
  channels: ' and channel in (select value from json_each(:channels))',
  all: '',
} as const;

function messagesAfter(among: keyof typeof AMONG) {
  return composed(`select seq, conversation_id, channel, message, turn_id, from_owner from inbox
    where seq > :after${AMONG[among]} order by seq limit ${BATCH}`).rows<
    Pick<MessageRow, 'seq' | 'conversation_id' | 'message' | 'from_owner'> & {
      readonly channel: string;
      readonly turn_id: string | null;
    }
  >();
}

const IS_THEIRS = "channel || ':' || sender_id in (select value from json_each(:persons))";

const HEARD = composed(`select conversation_id, text from group_context
  where ${IS_THEIRS} and (conversation_id = :only or :only is null)`).rows<{
  readonly conversation_id: string;
  readonly text: string;
}>();

const OF_LANE = 'conversation_id = :conversation';

/** Empties the places of a lane but for some; how many rows that were, by table. */
async function emptyLane(
  database: Database,
  lane: string,
  mark: string,
  except: readonly string[] = [],
): Promise<ReadonlyMap<string, number>> {
  const values = { conversation: lane };
  const counts = new Map<string, number>();
  for (const place of FORGET_PLACES.filter(({ table }) => !except.includes(table))) {
    const rows = { where: place.of, values };
    const count =
      place.whole === 'rows'
        ? await deleteRows(database, place.table, rows)
        : await emptyRows(database, place, rows, mark);
    counts.set(place.table, count);
  }
  const prompts = { where: OF_LANE, values };
  counts.set('turn_prompt', await deleteRows(database, 'turn_prompt', prompts, ['turn_id']));
  return counts;
}

function sumOf(counts: ReadonlyMap<string, number>, isCounted: (table: string) => boolean): number {
  return [...counts].reduce((sum, [table, count]) => sum + (isCounted(table) ? count : 0), 0);
}

/** A chat with the person alone, and its sub-agents: nothing said there stays. */
async function emptyConversation(
  database: Database,
  conversation: string,
  { mark }: PersonForgetting,
): Promise<Removed> {
  const subAgents = await subAgentsOf(database, 'root_conversation = :conversation', {
    conversation,
  });
  let rows = 0;
  let cronJobs = 0;
  for (const lane of [...subAgents, conversation]) {
    await dropDeadLetters(database, OF_LANE, placeOf('outbox').of, { conversation: lane });
    const counts = await emptyLane(database, lane, mark);
    cronJobs += counts.get('cron_job') ?? 0;
    rows += sumOf(counts, (table) => table !== 'cron_job' && table !== 'inbox');
  }
  return { rows, cronJobs };
}

const BY_TURN = 'turn_id in (select value from json_each(:turns))';

/** In a group others keep what they said; what mixes voices is built again from that, or removed. */
async function leaveGroup(
  database: Database,
  conversation: string,
  { seqs, turns, texts }: Said,
  { persons, mark, retell }: PersonForgetting,
): Promise<Removed> {
  const lists = { seqs: toJson(seqs), turns: toJson([...turns]), persons: toJson(persons) };
  const values = { conversation, ...lists };
  const isTurn = 'id in (select value from json_each(:turns))';
  const parts = `(${BY_TURN} or answers in (${NUMBERS}))`;
  const isSubAgent = 'parent_turn in (select value from json_each(:turns))';
  const asked = `${OF_LANE} and asked_by in (select value from json_each(:persons))`;
  const lanes = await subAgentsOf(database, isSubAgent, values);
  await dropDeadLetters(database, isTurn, parts, values);
  await retellTurns(database, { seqs, turns }, retell);
  const gone = async (table: string, where: string, keys?: readonly string[]) =>
    deleteRows(database, table, { where, values }, keys);
  const cronJobs = await gone('cron_job', asked);
  let rows = await emptyRows(database, placeOf('outbox'), { where: parts, values }, mark);
  await emptyRows(database, placeOf('inbox'), { where: `seq in (${NUMBERS})`, values }, mark);
  rows += await gone('attachment', `inbox_seq in (${NUMBERS})`);
  // A reaction of anyone may quote them.
  const isReaction = `message_id like '${REACTION_PREFIX}%'`;
  rows += await gone('group_context', `${OF_LANE} and (${IS_THEIRS} or ${isReaction})`);
  rows += await gone(
    'turn_step',
    `turn_id in (select id from turn where ${OF_LANE} and state <> 'running')`,
  );
  rows += await gone('summary', OF_LANE);
  rows += await gone('session_pin', OF_LANE);
  rows += await gone('turn_prompt', OF_LANE, ['turn_id']);
  rows += await gone('approval', `(${BY_TURN} or ${asked})`);
  rows += await gone('sub_agent', isSubAgent);
  const phrases = texts.filter((text) => text.length >= SHORTEST_WORD).slice(-MOST_WORDS);
  const without = phraseRedactor(phrases, mark);
  rows += await database.write(async (sql) => {
    await sql.run(composed(`update turn set reason = null where ${isTurn}`), values);
    let changed = 0;
    for (const place of ['todo_list', 'heartbeat_run', 'cron_job'].map(placeOf)) {
      changed += await rewriteRows(sql, place, { where: place.of, values }, without);
    }
    return changed;
  });
  for (const lane of lanes) {
    const counts = await emptyLane(database, lane, mark, ['outbox']);
    rows += sumOf(counts, (table) => table === 'turn_prompt' || placeOf(table).whole === 'rows');
  }
  return { rows, cronJobs };
}

async function stopAll(
  database: Database,
  conversation: string,
  _said: Said,
  now: number,
): Promise<readonly string[]> {
  return database.write(async (sql) => {
    await lockConversation(sql, conversation);
    const subAgents = await stopSubAgents(sql, conversation, now);
    const { stoppedTurn } = await stopLane(sql, conversation, now);
    return [...subAgents, ...(stoppedTurn === null ? [] : [conversation])];
  });
}

/** Only a turn that they take part in is stopped; what others wrote to it waits for the next. */
async function stopTheirs(
  database: Database,
  conversation: string,
  { seqs, turns }: Pick<Said, 'seqs' | 'turns'>,
  now: number,
): Promise<readonly string[]> {
  return database.write(async (sql) => {
    await lockConversation(sql, conversation);
    const running = await sql.get(RUNNING, { conversation });
    sql.send(STOP, { seqs: toJson(seqs), now });
    if (running === undefined || !turns.has(running.id)) return [];
    const waiting = await sql.all(UNDONE, { conversation, turnId: running.id });
    const lanes = await stopSubAgents(sql, conversation, now);
    await stopLane(sql, conversation, now);
    const theirs = new Set(seqs);
    const others = waiting.map(({ seq }) => seq).filter((seq) => !theirs.has(seq));
    sql.send(WAIT_AGAIN, { seqs: toJson(others) });
    return [...lanes, conversation];
  });
}

const RUNNING = statement(`
  select id from turn where conversation_id = :conversation and state = 'running'`).rows<{
  readonly id: string;
}>();

const NUMBERS = 'select cast(value as bigint) from json_each(:seqs)';

const STOP = statement(`
  update inbox set state = 'done', outcome = 'stopped', done_at = :now
  where seq in (${NUMBERS}) and state = 'waiting'`);

const UNDONE = statement(`
  select seq from inbox
  where conversation_id = :conversation and (state = 'waiting' or turn_id = :turnId)`).rows<
  Pick<MessageRow, 'seq'>
>();

const WAIT_AGAIN = statement(`
  update inbox
  set state = 'waiting', outcome = null, turn_id = null, claimed_at = null, done_at = null
  where seq in (${NUMBERS})`);

/** The history of turns they wrote to: the words of others stay, the answer goes with the question. */
async function retellTurns(
  database: Database,
  { seqs, turns }: Pick<Said, 'seqs' | 'turns'>,
  retell: PersonForgetting['retell'],
): Promise<void> {
  const theirs = new Set(seqs);
  for (const turn of turns) {
    await database.write(async (sql) => {
      const rows = await sql.all(MESSAGES, { turn });
      const others = rows.filter(({ seq }) => !theirs.has(seq)).map(readInboxRow);
      const question = (await sql.get(QUESTION, { turn }))?.seq;
      const kept = others.length === 0 ? 0 : (question ?? 0);
      sql.send(FORGET_OTHERS, { turn, kept });
      if (kept !== 0) sql.send(RETELL, { kept, content: toJson(retell(others)) });
    });
    await pause();
  }
}

const MESSAGES = statement(
  `select ${INBOX_COLUMNS} from inbox where turn_id = :turn order by seq`,
).rows<MessageRow>();

const QUESTION = statement(`
  select seq from transcript where turn_id = :turn and role = 'user' order by seq limit 1`).rows<
  Pick<MessageRow, 'seq'>
>();

const FORGET_OTHERS = statement('delete from transcript where turn_id = :turn and seq <> :kept');

const RETELL = statement('update transcript set content = :content where seq = :kept');

async function subAgentsOf(
  database: Database,
  where: string,
  values: Values,
): Promise<readonly string[]> {
  const lanes = composed(`select conversation_id as lane from sub_agent where ${where}`);
  const rows = lanes.rows<{ readonly lane: string }>();
  return (await database.read((sql) => sql.all(rows, values))).map(({ lane }) => lane);
}

/** Why messages of theirs were not taken. */
async function forgetTraces(
  database: Database,
  { persons, only }: PersonForgetting,
): Promise<void> {
  if (only !== null) return;
  const values = { persons: toJson(persons) };
  await deleteRows(database, 'decision', { where: IS_THEIRS, values }, ['seq']);
}
