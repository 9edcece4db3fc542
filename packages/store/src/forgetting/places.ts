import { composed, fromJson, type Sql, type SqlValue, toJson, type Values } from '../database.ts';
import { REACTION_PREFIX } from '../reactions.ts';
import type { Forgotten } from './forgetting.ts';

/** A table with text of a conversation. */
export interface ForgetPlace {
  readonly table: string;
  /** The columns of the primary key. */
  readonly keys: readonly string[];
  /** The columns with text, and whether each is JSON. */
  readonly texts: Readonly<Record<string, 'json' | 'plain'>>;
  /** What becomes of it where all of a conversation is forgotten: its rows go, or stay without their texts. */
  readonly whole: 'rows' | 'texts';
  /** How a person's words in it are found in a group, where others keep theirs. */
  readonly persons: PersonsRows;
  /** As what its rows are counted. */
  readonly counts: Exclude<keyof Forgotten, 'prompts' | 'copies'>;
  /** Condition: the rows that belong to `:conversation`. */
  readonly of: string;
}

/**
 * How the words of one person are found in a table:
 * - `rows`: a condition that may name `:conversation` and the lists `:turns`, `:seqs` and `:persons`. Rows that mix voices and can be made again are all named. With `alsoPhrases` the other rows lose
 *   what the person wrote, as with `phrases`;
 * - `phrases`: the rows mix voices and stay, without what the person wrote;
 * - `history`: it is told again without them;
 * - `parts`: each row says whose words it carries, in whatever chat it is (`partsWithWords`).
 *
 * A table that says whose words its rows are in none of these ways cannot be a place.
 */
export type PersonsRows =
  | { readonly by: 'rows'; readonly where: string; readonly alsoPhrases?: true }
  | { readonly by: 'phrases' | 'history' | 'parts' };

const OF_CONVERSATION = 'conversation_id = :conversation';

/** Rows that mix voices: none of the group stays. */
const ALL_OF_GROUP: PersonsRows = { by: 'rows', where: OF_CONVERSATION };

const BY_TURN = 'turn_id in (select value from json_each(:turns))';

const BY_PERSONS = 'in (select value from json_each(:persons))';

const BY_SEQS = 'in (select cast(value as bigint) from json_each(:seqs))';

/** Who set a job up: the sender of the message in its column `origin`. */
const ORIGIN =
  "/*sqlite (origin ->> '$.channel') || ':' || (origin ->> '$.sender.id')*//*pg (cast(origin as json) ->> 'channel') || ':' || (cast(origin as json) #>> '{sender,id}')*/";

/** What holds where a place says nothing else. */
const USUAL = {
  counts: 'pins',
  whole: 'rows',
  of: OF_CONVERSATION,
} as const satisfies Partial<ForgetPlace>;

type UnusualPlace = Pick<ForgetPlace, 'table' | 'keys' | 'texts' | 'persons'> &
  Partial<ForgetPlace>;

const PLACES: readonly UnusualPlace[] = [
  {
    table: 'transcript',
    keys: ['seq'],
    texts: { content: 'json' },
    persons: { by: 'history' },
    counts: 'history',
  },
  {
    table: 'inbox',
    keys: ['seq'],
    texts: { message: 'json', reason: 'plain' },
    persons: { by: 'rows', where: `seq ${BY_SEQS}` },
    counts: 'messages',
    whole: 'texts',
  },
  {
    table: 'group_context',
    keys: ['seq'],
    texts: { text: 'plain', sender_name: 'plain' },
    // A reaction of anyone may quote them.
    persons: {
      by: 'rows',
      where: `${OF_CONVERSATION} and (channel || ':' || sender_id ${BY_PERSONS}
        or message_id like '${REACTION_PREFIX}%')`,
    },
    counts: 'messages',
  },
  {
    // Transcripts of voice messages, and the names of files.
    table: 'attachment',
    keys: ['inbox_seq', 'attachment_index'],
    texts: { text: 'plain', name: 'plain', reason: 'plain' },
    persons: { by: 'rows', where: `inbox_seq ${BY_SEQS}` },
    counts: 'messages',
    of: 'inbox_seq in (select seq from inbox where conversation_id = :conversation)',
  },
  {
    // Files that the agent sent there or that its tools have made.
    table: 'agent_file',
    keys: ['id'],
    texts: { name: 'plain' },
    persons: { by: 'rows', where: BY_TURN },
    counts: 'answers',
    of: `(turn_id in (select id from turn where conversation_id = :conversation)
      or part_id in (select outbox.id from outbox join inbox on outbox.channel = inbox.channel
        and outbox.account = inbox.account and outbox.chat_id = inbox.chat_id
        where inbox.conversation_id = :conversation))`,
  },
  {
    // What went to the chats of the conversation, answers to commands included.
    table: 'outbox',
    keys: ['id'],
    texts: { body: 'json', error: 'plain', retries: 'plain' },
    persons: { by: 'parts' },
    counts: 'answers',
    whole: 'texts',
    of: `(channel, account, chat_id) in
      (select channel, account, chat_id from inbox where conversation_id = :conversation)`,
  },
  {
    table: 'turn_step',
    keys: ['turn_id', 'step_index'],
    texts: { content: 'json' },
    persons: {
      by: 'rows',
      where: `turn_id in (select id from turn where ${OF_CONVERSATION} and state <> 'running')`,
    },
    counts: 'steps',
    of: 'turn_id in (select id from turn where conversation_id = :conversation)',
  },
  {
    table: 'turn',
    keys: ['id'],
    texts: { reason: 'plain' },
    persons: { by: 'rows', where: 'id in (select value from json_each(:turns))' },
    counts: 'steps',
    whole: 'texts',
  },
  {
    table: 'session_pin',
    keys: ['conversation_id', 'session', 'pin_key'],
    texts: { content: 'json' },
    persons: ALL_OF_GROUP,
  },
  // A summary is made of what was said and may say it again.
  { table: 'summary', keys: ['seq'], texts: { content: 'json' }, persons: ALL_OF_GROUP },
  {
    table: 'todo_list',
    keys: ['conversation_id', 'session'],
    texts: { content: 'json' },
    persons: { by: 'phrases' },
  },
  {
    table: 'approval',
    keys: ['seq'],
    texts: { shown: 'plain', place: 'plain', rule: 'plain', choices: 'json', answer: 'plain' },
    persons: {
      by: 'rows',
      where: `(${BY_TURN} or (${OF_CONVERSATION} and asked_by ${BY_PERSONS}))`,
    },
  },
  {
    table: 'sub_agent',
    keys: ['id'],
    texts: { title: 'plain', task: 'plain', result: 'plain', origin: 'json' },
    persons: { by: 'rows', where: 'parent_turn in (select value from json_each(:turns))' },
    of: 'root_conversation = :conversation',
  },
  {
    table: 'cron_job',
    keys: ['id'],
    texts: { title: 'plain', task: 'plain', last_outcome: 'plain', origin: 'json' },
    persons: {
      by: 'rows',
      where: `${OF_CONVERSATION} and ${ORIGIN} ${BY_PERSONS}`,
      alsoPhrases: true,
    },
  },
  {
    // The findings of a heartbeat, sent or not.
    table: 'heartbeat_run',
    keys: ['id'],
    texts: { reason: 'plain', alert: 'plain', fingerprint: 'plain', entry: 'json', parts: 'json' },
    persons: { by: 'phrases' },
    of: 'target = :conversation',
  },
];

/**
 * Every place where the database keeps text of a conversation, but for recorded prompts and what
 * adapters keep. A test holds it against all columns there are: a new one has to be put here, or
 * among those that hold none.
 */
export const FORGET_PLACES: readonly ForgetPlace[] = PLACES.map((place) => ({
  ...USUAL,
  ...place,
}));

/** What is known of a table with text. */
export function placeOf(table: string): ForgetPlace {
  const place = FORGET_PLACES.find((one) => one.table === table);
  if (place === undefined) throw new Error(`${table} is no place of text.`);
  return place;
}

/** A value without some phrases; the same value, not a copy, where they are not in it. */
export type Redact = (value: unknown) => unknown;

/** Takes phrases out of rows of one table; how many rows are changed. */
export async function rewriteRows(
  sql: Sql,
  { table, keys, texts }: ForgetPlace,
  { where, values }: { readonly where: string; readonly values: Values },
  without: Redact,
): Promise<number> {
  const columns = [...new Set([...keys, ...Object.keys(texts)])].join(', ');
  const found = composed(`select ${columns} from ${table} where ${where}`);
  const itself = keys.map((key) => `${key} = :${key}`).join(' and ');
  let count = 0;
  for (const row of await sql.all(found.rows<Record<string, SqlValue>>(), values)) {
    const changes = Object.entries(texts).flatMap(([column, form]) => {
      const text = changedText(row[column], form, without);
      return text === null ? [] : [[column, text] as const];
    });
    if (changes.length === 0) continue;
    const set = changes.map(([column]) => `${column} = :new_${column}`).join(', ');
    const changed = Object.fromEntries(changes.map(([column, text]) => [`new_${column}`, text]));
    await sql.run(composed(`update ${table} set ${set} where ${itself}`), { ...row, ...changed });
    count += 1;
  }
  return count;
}

/** Null: there is nothing to change. */
function changedText(stored: unknown, form: 'json' | 'plain', without: Redact): string | null {
  if (typeof stored !== 'string') return null;
  const before = form === 'json' ? fromJson(stored) : stored;
  const after = without(before);
  if (after === before) return null;
  return form === 'json' ? toJson(after) : String(after);
}

/** Fields that hold no text of people but what the code itself lives by: they stay as they are. */
const FIXED: ReadonlySet<string> = new Set(
  (
    'account callId callKey channel chatId conversationId data dialect effect hash id kind layer ' +
    'mentions messageId mimeType mode outcome placement pressed ref replyToMessageId response role roles ' +
    'senderId signature state style threadId timeZone toolCallId trigger turnId type unit'
  ).split(' '),
);

/** Longest values of fields that are bounded; a mark may be longer than the phrase in its place. */
const LONGEST: Readonly<Record<string, number>> = { label: 64, name: 255 };

/** Shorter phrases count only as a whole: `art` does not go out of `party`. In letters. */
const PIECE = 4;

/**
 * Makes a function that puts `mark` in the place of phrases, in a text or in all texts of a JSON value.
 * It returns the same value, not a copy, where nothing was found. Longer phrases are taken first.
 * What the value is made of stays: fields keep their names, ids and kinds, whatever the phrases are.
 */
export function phraseRedactor(
  phrases: readonly string[],
  mark: string,
): (value: unknown) => unknown {
  const forms = phrases.flatMap((phrase) => [phrase, inHtml(phrase), inJson(phrase)]);
  const sorted = [...new Set(forms.map((form) => form.trim()))]
    .filter((form) => form !== '')
    .sort((one, other) => other.length - one.length);
  if (sorted.length === 0) return (value) => value;
  const pattern = new RegExp(sorted.map(patternOf).join('|'), 'giu');
  return inEveryText((text) => text.replace(pattern, () => mark));
}

/** Makes a function that puts `mark` in the place of each text, in the same way. */
export function textRedactor(mark: string): (value: unknown) => unknown {
  return inEveryText((text) => (text === '' ? text : mark));
}

function inEveryText(inText: (text: string) => string): (value: unknown) => unknown {
  const inList = (items: readonly unknown[]): unknown => {
    const changed = items.map(inside);
    return changed.every((item, at) => item === items[at]) ? items : changed;
  };
  const inObject = (value: object): unknown => {
    const entries = Object.entries(value);
    const isCall = 'arguments' in value;
    const changed = entries.map(([key, item]) => {
      if (key === 'variables') return [key, inVariables(item)] as const;
      // The name of a tool is no text of a person.
      if (FIXED.has(key) || (isCall && key === 'name')) return [key, item] as const;
      const after = inside(item);
      const most = LONGEST[key];
      const isCut = typeof after === 'string' && most !== undefined && after !== item;
      return [key, isCut ? after.slice(0, most).toWellFormed() : after] as const;
    });
    const isSame = changed.every(([, item], at) => item === entries[at]?.[1]);
    return isSame ? value : Object.fromEntries(changed);
  };
  /** Here people choose the names, too. */
  const inVariables = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return inside(value);
    const entries = Object.entries(value);
    const changed = entries.map(([key, item]) => [inText(key), inside(item)] as const);
    const isSame = changed.every(
      ([key, item], at) => key === entries[at]?.[0] && item === entries[at]?.[1],
    );
    return isSame ? value : Object.fromEntries(changed);
  };
  const inside = (value: unknown): unknown => {
    if (typeof value === 'string') return inText(value);
    if (Array.isArray(value)) return inList(value);
    return typeof value === 'object' && value !== null ? inObject(value) : value;
  };
  return inside;
}

/** Spaces may have become line ends on the way, also as JSON writes them, or a question of a call. */
function patternOf(word: string): string {
  const pieces = word.split(/\s+/).map((piece) => RegExp.escape(piece));
  const pattern = pieces.join(String.raw`(?:\s|\\[nrt]|(?<=\n)[|+])+`);
  const isShort =
    [...word].length < PIECE &&
    !/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u.test(word);
  return isShort ? String.raw`(?<![\p{L}\p{N}])${pattern}(?![\p{L}\p{N}])` : pattern;
}

function inHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** The arguments of a tool call are kept as the text that the model wrote. */
function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}
