import type { RawBuilder } from 'kysely';
import type { Sql } from '../database.ts';
import { fromJson, toJson } from '../json-column.ts';
import { raw } from '../kysely.ts';
import type { Tables } from '../tables.ts';
import type { Forgotten } from './forgetting.ts';

/** A table with words of a conversation. */
export interface ForgetPlace {
  readonly table: keyof Tables;
  /** The columns that tell a row from all others. */
  readonly keys: readonly string[];
  /** The columns with words, and whether each is JSON. */
  readonly words: Readonly<Record<string, 'json' | 'plain'>>;
  /** What becomes of it where all of a conversation is forgotten: its rows go, or stay without their texts. */
  readonly whole: 'rows' | 'texts';
  /** As what its rows are counted. */
  readonly counts: Exclude<keyof Forgotten, 'prompts' | 'copies'>;
  /** Which rows belong to a conversation. */
  readonly of: (conversation: string) => RawBuilder<unknown>;
}

/**
 * Every place where the database keeps words of a conversation, but for recorded prompts and what
 * adapters keep. A test holds it against all columns there are: a new one has to be put here, or
 * among those that hold none.
 */
export const FORGET_PLACES: readonly ForgetPlace[] = [
  {
    table: 'transcript',
    keys: ['seq'],
    words: { content: 'json' },
    counts: 'history',
    whole: 'rows',
    of: (conversation) => raw`conversation_id = ${conversation}`,
  },
  {
    table: 'inbox',
    keys: ['seq'],
    words: { message: 'json', reason: 'plain' },
    counts: 'messages',
    whole: 'texts',
    of: (conversation) => raw`conversation_id = ${conversation}`,
  },
  {
    table: 'overheard',
    keys: ['seq'],
    words: { text: 'plain', sender_name: 'plain' },
    counts: 'messages',
    whole: 'rows',
    of: (conversation) => raw`conversation_id = ${conversation}`,
  },
  {
    // What was heard in voice messages, and the names of files.
    table: 'attachment',
    keys: ['inbox_seq', 'attachment_index'],
    words: { text: 'plain', name: 'plain', reason: 'plain' },
    counts: 'messages',
    whole: 'rows',
    of: (conversation) =>
      raw`inbox_seq in (select seq from inbox where conversation_id = ${conversation})`,
  },
  {
    // What went to the chats of the conversation, answers to commands included.
    table: 'outbox',
    keys: ['id'],
    words: { body: 'json', error: 'plain', retries: 'plain' },
    counts: 'answers',
    whole: 'texts',
    of: (conversation) =>
      raw`(channel, account, chat_id) in
        (select channel, account, chat_id from inbox where conversation_id = ${conversation})`,
  },
  {
    table: 'turn_step',
    keys: ['turn_id', 'step_index'],
    words: { content: 'json' },
    counts: 'steps',
    whole: 'rows',
    of: (conversation) =>
      raw`turn_id in (select id from turn where conversation_id = ${conversation})`,
  },
  {
    table: 'turn',
    keys: ['id'],
    words: { reason: 'plain' },
    counts: 'steps',
    whole: 'texts',
    of: (conversation) => raw`conversation_id = ${conversation}`,
  },
  {
    table: 'session_pin',
    keys: ['conversation_id', 'session', 'pin_key'],
    words: { content: 'json' },
    counts: 'pins',
    whole: 'rows',
    of: (conversation) => raw`conversation_id = ${conversation}`,
  },
  {
    // A summary is made of what was said and may say it again.
    table: 'summary',
    keys: ['seq'],
    words: { content: 'json' },
    counts: 'pins',
    whole: 'rows',
    of: (conversation) => raw`conversation_id = ${conversation}`,
  },
  {
    table: 'todo_list',
    keys: ['conversation_id', 'session'],
    words: { content: 'json' },
    counts: 'pins',
    whole: 'rows',
    of: (conversation) => raw`conversation_id = ${conversation}`,
  },
  {
    table: 'approval',
    keys: ['seq'],
    words: { shown: 'plain', place: 'plain' },
    counts: 'pins',
    whole: 'rows',
    of: (conversation) => raw`conversation_id = ${conversation}`,
  },
  {
    table: 'sub_agent',
    keys: ['id'],
    words: { title: 'plain', task: 'plain', result: 'plain', origin: 'json' },
    counts: 'pins',
    whole: 'rows',
    of: (conversation) => raw`root_conversation = ${conversation}`,
  },
  {
    table: 'cron_job',
    keys: ['id'],
    words: { title: 'plain', task: 'plain', last_outcome: 'plain', origin: 'json' },
    counts: 'pins',
    whole: 'rows',
    of: (conversation) => raw`conversation_id = ${conversation}`,
  },
  {
    // What a heartbeat found out, told or not.
    table: 'beat',
    keys: ['id'],
    words: { reason: 'plain', alert: 'plain', fingerprint: 'plain', entry: 'json', parts: 'json' },
    counts: 'pins',
    whole: 'rows',
    of: (conversation) => raw`target = ${conversation}`,
  },
];

/** A value without some words; the same value, not a copy, where they are not in it. */
export type Without = (value: unknown) => unknown;

/** Takes words out of the rows of one conversation in one table; how many rows are changed. */
export async function rewritePlace(
  sql: Sql,
  { table, keys, words, of }: ForgetPlace,
  conversation: string,
  without: Without,
): Promise<number> {
  const columns = [...new Set([...keys, ...Object.keys(words)])].map((name) => raw.ref(name));
  const { rows } = await raw<Record<string, unknown>>`
    select ${raw.join(columns)} from ${raw.table(table)} where ${of(conversation)}
  `.execute(sql);
  let count = 0;
  for (const row of rows) {
    const changes = Object.entries(words).flatMap(([column, form]) => {
      const text = changedText(row[column], form, without);
      return text === null ? [] : [raw`${raw.ref(column)} = ${text}`];
    });
    if (changes.length === 0) continue;
    const itself = keys.map((key) => raw`${raw.ref(key)} = ${row[key]}`);
    await raw`
      update ${raw.table(table)} set ${raw.join(changes)} where ${raw.join(itself, raw` and `)}
    `.execute(sql);
    count += 1;
  }
  return count;
}

/** Null: there is nothing to change. */
function changedText(stored: unknown, form: 'json' | 'plain', without: Without): string | null {
  if (typeof stored !== 'string') return null;
  const before = form === 'json' ? fromJson(stored) : stored;
  const after = without(before);
  if (after === before) return null;
  return form === 'json' ? toJson(after) : String(after);
}

/** Fields that hold no words of people but what the code itself lives by: they stay as they are. */
const FIXED: ReadonlySet<string> = new Set(
  (
    'account callId callKey channel chatId conversationId data dialect effect hash id kind layer ' +
    'mentions messageId mimeType mode occasion outcome placement ref replyToMessageId role ' +
    'senderId signature state threadId timeZone toolCallId turnId type unit'
  ).split(' '),
);

/** Longest values of fields that are bounded; a mark may be longer than the words in its place. */
const LONGEST: Readonly<Record<string, number>> = { label: 64, name: 255 };

/** Shorter words count only as a whole: `art` does not go out of `party`. In letters. */
const PIECE = 4;

/**
 * Makes a function that puts `mark` in the place of words, in a text or in all texts of a JSON value.
 * It gives back the same value, not a copy, where nothing was found. Longer words are taken first.
 * What the value is made of stays: fields keep their names, ids and kinds, whatever the words are.
 */
export function withoutWords(words: readonly string[], mark: string): (value: unknown) => unknown {
  const forms = words.flatMap((word) => [word, inHtml(word), inJson(word)]);
  const sorted = [...new Set(forms.map((form) => form.trim()))]
    .filter((form) => form !== '')
    .sort((one, other) => other.length - one.length);
  if (sorted.length === 0) return (value) => value;
  const pattern = new RegExp(sorted.map(patternOf).join('|'), 'giu');
  return inEveryText((text) => text.replace(pattern, () => mark));
}

/** Makes a function that puts `mark` in the place of each text, in the same way. */
export function withoutTexts(mark: string): (value: unknown) => unknown {
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
      // The name of a tool is no word of anybody.
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
  const pieces = word.split(/\s+/).map((piece) => piece.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  const pattern = pieces.join(String.raw`(?:\s|\\[nrt]|(?<=\n)[|+])+`);
  const isShort =
    [...word].length < PIECE &&
    !/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u.test(word);
  return isShort ? String.raw`(?<![\p{L}\p{N}])${pattern}(?![\p{L}\p{N}])` : pattern;
}

function inHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** What a model was told to call a tool with is kept as the text it wrote. */
function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}
