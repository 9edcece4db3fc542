import type { RawBuilder } from 'kysely';
import type { Forgotten } from '../forgetting.ts';
import { raw } from '../kysely.ts';
import type { Tables } from '../tables.ts';

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
