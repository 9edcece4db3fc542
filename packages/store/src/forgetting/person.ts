import { setImmediate as pause } from 'node:timers/promises';
import { z } from 'zod';
import { lockConversation } from '../conversations.ts';
import type { Database } from '../database.ts';
import { INBOX_COLUMNS, readInboxRow } from '../inbox-rows.ts';
import { fromJson, toJson } from '../json-column.ts';
import { raw } from '../kysely.ts';
import { RUNNING, WAITING } from '../literals.ts';
import { stopLane, stopSubAgents } from '../stop-lane.ts';
import {
  BATCH,
  deleteRows,
  dropLetters,
  dropUnusedTexts,
  emptyRows,
  names,
  numbers,
  placeOf,
  type Where,
} from './copies.ts';
import type { PersonForgetting, PersonForgotten } from './forgetting.ts';
import { FORGET_PLACES, type ForgetPlace, rewritePlace, withoutWords } from './places.ts';

/** Texts to look for afterwards, and how long one must be to be nobody else's by chance. */
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

/** Forgets all that a person has said (G15), conversation by conversation. */
export async function forgetPerson(
  database: Database,
  forgetting: PersonForgetting,
): Promise<PersonForgotten> {
  const said = await whatTheySaid(database, forgetting);
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
): Promise<ReadonlyMap<string, Said>> {
  const said = new Map<string, Said>();
  const channels = [...new Set(persons.map((person) => person.split(':', 1).join()))];
  const of = (conversation: string, isDirect: boolean): Said => {
    const known = said.get(conversation) ?? { isDirect, seqs: [], turns: new Set(), texts: [] };
    said.set(conversation, known);
    return known;
  };
  for (let after = 0; ; ) {
    const rows = await database.read((sql) => {
      const query = sql
        .selectFrom('inbox')
        .select(['seq', 'conversation_id', 'channel', 'message', 'turn_id', 'from_owner'])
        .where('seq', '>', after)
        .orderBy('seq')
        .limit(BATCH);
      if (only !== null) return query.where('conversation_id', '=', only).execute();
      return (ownersToo ? query : query.where('channel', 'in', channels)).execute();
    });
    for (const row of rows) {
      const { text, chat, sender } = Message.parse(fromJson(row.message));
      const isTheirs =
        persons.includes(`${row.channel}:${sender.id}`) || (ownersToo && row.from_owner === 1);
      if (!isTheirs) continue;
      const one = of(row.conversation_id, chat.type === 'direct');
      one.seqs.push(row.seq);
      one.texts.push(text);
      if (row.turn_id !== null) one.turns.add(row.turn_id);
    }
    after = rows.at(-1)?.seq ?? after;
    await pause();
    if (rows.length < BATCH) break;
  }
  for (const { conversation_id, text } of await overheardOf(database, persons, only)) {
    of(conversation_id, false).texts.push(text);
  }
  return said;
}

function overheardOf(database: Database, persons: readonly string[], only: string | null) {
  return database.read(async (sql) => {
    const there = only === null ? raw`` : raw` and conversation_id = ${only}`;
    const { rows } = await raw<{ conversation_id: string; text: string }>`
      select conversation_id, text from overheard
      where channel || ':' || sender_id in (${names(database, persons)})${there}
    `.execute(sql);
    return rows;
  });
}

/** A chat with the person alone, and what was handed on from it: nothing said there stays. */
async function emptyConversation(
  database: Database,
  conversation: string,
  { mark }: PersonForgetting,
): Promise<Removed> {
  const handedOn = await subAgentsOf(database, raw`root_conversation = ${conversation}`);
  let rows = 0;
  let cronJobs = 0;
  for (const lane of [...handedOn, conversation]) {
    await dropLetters(database, raw`conversation_id = ${lane}`, placeOf('outbox').of(lane));
    for (const place of FORGET_PLACES) {
      const where = place.of(lane);
      const count =
        place.whole === 'rows'
          ? await deleteRows(database, place.table, place.keys, where)
          : await emptyRows(database, place, where, mark);
      if (place.table === 'cron_job') cronJobs += count;
      else if (place.table !== 'inbox') rows += count;
    }
    rows += await deleteRows(database, 'turn_prompt', ['turn_id'], raw`conversation_id = ${lane}`);
  }
  return { rows, cronJobs };
}

/** In a group others keep what they said; what mixes voices is built again from that, or removed. */
async function leaveGroup(
  database: Database,
  conversation: string,
  { seqs, turns, texts }: Said,
  { persons, mark, retell }: PersonForgetting,
): Promise<Removed> {
  const seqList = numbers(database, seqs);
  const turnList = names(database, turns);
  const personList = names(database, persons);
  const theirTurns = raw`turn_id in (${turnList})`;
  const all = raw`conversation_id = ${conversation}`;
  const isOver = raw`turn_id in (select id from turn where conversation_id = ${conversation} and state <> ${RUNNING})`;
  const parts = raw`(${theirTurns} or answers in (${seqList}))`;
  const handedOn = raw`parent_turn in (${turnList})`;
  const lanes = await subAgentsOf(database, handedOn);
  await dropLetters(database, raw`id in (${turnList})`, parts);
  await retellTurns(database, { seqs, turns }, retell);
  const gone = async (table: ForgetPlace['table'], where: Where, keys = placeOf(table).keys) =>
    deleteRows(database, table, keys, where);
  const asked = raw`${all} and asked_by in (${personList})`;
  const heard = raw`${all} and channel || ':' || sender_id in (${personList})`;
  const cronJobs = await gone('cron_job', asked);
  let rows = await emptyRows(database, placeOf('outbox'), parts, mark);
  await emptyRows(database, placeOf('inbox'), raw`seq in (${seqList})`, mark);
  rows += await gone('attachment', raw`inbox_seq in (${seqList})`);
  rows += await gone('overheard', heard);
  rows += await gone('turn_step', isOver);
  rows += await gone('summary', all);
  rows += await gone('session_pin', all);
  rows += await gone('turn_prompt', all, ['turn_id']);
  rows += await gone('approval', raw`(${theirTurns} or ${asked})`);
  rows += await gone('sub_agent', handedOn);
  const words = texts.filter((text) => text.length >= SHORTEST_WORD).slice(-MOST_WORDS);
  const without = withoutWords(words, mark);
  rows += await database.write(async (sql) => {
    await raw`update turn set reason = null where id in (${turnList})`.execute(sql);
    let changed = 0;
    for (const table of ['todo_list', 'beat', 'cron_job'] as const) {
      changed += await rewritePlace(sql, placeOf(table), conversation, without);
    }
    return changed;
  });
  for (const lane of lanes) {
    for (const place of FORGET_PLACES.filter(({ table }) => table !== 'outbox')) {
      if (place.whole === 'rows') rows += await gone(place.table, place.of(lane));
      else await emptyRows(database, place, place.of(lane), mark);
    }
    rows += await gone('turn_prompt', raw`conversation_id = ${lane}`, ['turn_id']);
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
    const running = await sql
      .selectFrom('turn')
      .select('id')
      .where('conversation_id', '=', conversation)
      .where('state', '=', RUNNING)
      .executeTakeFirst();
    const theirs = numbers(database, seqs);
    await raw`update inbox set state = 'done', outcome = 'stopped', done_at = ${now}
      where seq in (${theirs}) and state = ${WAITING}`.execute(sql);
    if (running === undefined || !turns.has(running.id)) return [];
    const waiting = await sql
      .selectFrom('inbox')
      .select('seq')
      .where('conversation_id', '=', conversation)
      .where((eb) => eb.or([eb('state', '=', WAITING), eb('turn_id', '=', running.id)]))
      .execute();
    const lanes = await stopSubAgents(sql, conversation, now);
    await stopLane(sql, conversation, now);
    const back = numbers(
      database,
      waiting.map(({ seq }) => seq),
    );
    await raw`update inbox
      set state = ${WAITING}, outcome = null, turn_id = null, claimed_at = null, done_at = null
      where seq in (${back}) and seq not in (${theirs})`.execute(sql);
    return [...lanes, conversation];
  });
}

/** The history of turns they wrote to: the words of others stay, the answer goes with the question. */
async function retellTurns(
  database: Database,
  { seqs, turns }: Pick<Said, 'seqs' | 'turns'>,
  retell: PersonForgetting['retell'],
): Promise<void> {
  const theirs = new Set(seqs);
  for (const turn of turns) {
    await database.write(async (sql) => {
      const rows = await sql
        .selectFrom('inbox')
        .select(INBOX_COLUMNS)
        .where('turn_id', '=', turn)
        .orderBy('seq')
        .execute();
      const others = rows.filter(({ seq }) => !theirs.has(seq)).map(readInboxRow);
      const entries = sql.selectFrom('transcript').select('seq').where('turn_id', '=', turn);
      const first = await entries.where('role', '=', 'user').orderBy('seq').executeTakeFirst();
      const kept = others.length > 0 && first !== undefined ? first.seq : 0;
      await sql
        .deleteFrom('transcript')
        .where('turn_id', '=', turn)
        .where('seq', '<>', kept)
        .execute();
      if (kept === 0) return;
      const content = toJson(retell(others));
      await sql.updateTable('transcript').set({ content }).where('seq', '=', kept).execute();
    });
    await pause();
  }
}

async function subAgentsOf(database: Database, where: Where): Promise<readonly string[]> {
  const { rows } = await database.read((sql) =>
    raw<{ conversation_id: string }>`select conversation_id from sub_agent where ${where}`.execute(
      sql,
    ),
  );
  return rows.map((row) => row.conversation_id);
}

/** Why messages of theirs were not taken. */
async function forgetTraces(
  database: Database,
  { persons, only }: PersonForgetting,
): Promise<void> {
  if (only !== null) return;
  await deleteRows(
    database,
    'decision',
    ['seq'],
    raw`channel || ':' || sender_id in (${names(database, persons)})`,
  );
}
