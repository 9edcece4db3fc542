import { KNOWN_FOR_MS } from './prompts.ts';

/** For how long rows are kept, in ms; Infinity: for ever. Named as in the settings. */
export interface RetentionAges {
  /** Messages, answers, turns and their journals, approvals, runs of sub-agents and standing tasks. */
  readonly messages: number;
  /** What the model reads of a conversation. */
  readonly history: number;
  /** Why messages were not taken. */
  readonly decisions: number;
  /** Prompts that were recorded. */
  readonly prompts: number;
  readonly spend: number;
}

/** A table of which old rows are removed. */
export interface RetentionRule {
  readonly table: string;
  /** The row is as old as the younger of these is allowed to be. */
  readonly keeps: readonly (keyof RetentionAges)[];
  /** The columns of an index; rows are looked through in its order. */
  readonly key: readonly string[];
  /** When the row was written, or last of use. */
  readonly at: string;
  /** Older rows come first, so that a look ends at the first young ones; else all rows are looked at, once a day. */
  readonly isSorted: boolean;
  /** `at` is a day such as 2026-11-22. */
  readonly isDay?: true;
  /** Rows that are looked at. */
  readonly among?: string;
  /** Kept for so much longer. In ms. */
  readonly longer?: number;
  /** Rows that are still needed, however old they are. */
  readonly needed?: string;
}

/** As many as `inbox.ownerChats` looks at: where an owner is reached. */
const OWNER_MESSAGES = 200;
const BY_PERSON = `message not like '%,"trigger":"%'`;
/** For so long a process may not have touched the row of a text that it uses, and once more for a slow turn. */
const TEXT_IS_KNOWN_MS = 2 * KNOWN_FOR_MS;

const hasLetter = (subject: string) =>
  `exists (select 1 from dead_letter where subject = ${subject})`;
const refersTo = (table: string, column: string, id: string) =>
  `exists (select 1 from ${table} as child where child.${column} = ${id})`;
const ofSession = (table: string) =>
  `exists (select 1 from conversation where conversation.id = ${table}.conversation_id
    and conversation.session = ${table}.session)`;

const REFER_TO_TURN: readonly (readonly [table: string, column: string])[] = [
  ['transcript', 'turn_id'],
  ['inbox', 'turn_id'],
  ['outbox', 'turn_id'],
  ['turn_step', 'turn_id'],
  ['approval', 'turn_id'],
  ['sub_agent', 'parent_turn'],
  ['heartbeat_run', 'turn_id'],
  ['group_context', 'turn_id'],
];

/**
 * What is removed when it is old; rows that refer to others come before them. Attachments go with their
 * message. A table that grows and is not here is named in `BOUNDED_WITHOUT_AGE`; a test knows all tables.
 */
export const RETENTION_RULES: readonly RetentionRule[] = [
  {
    table: 'turn_prompt',
    keeps: ['prompts'],
    key: ['created_at', 'turn_id'],
    at: 'created_at',
    isSorted: true,
  },
  {
    table: 'prompt_text',
    keeps: ['prompts'],
    key: ['used_at', 'hash'],
    at: 'used_at',
    isSorted: true,
    longer: TEXT_IS_KNOWN_MS,
  },
  { table: 'decision', keeps: ['decisions'], key: ['seq'], at: 'decided_at', isSorted: true },
  {
    table: 'seen_group',
    keeps: ['decisions'],
    key: ['channel', 'account', 'chat_id'],
    at: 'seen_at',
    isSorted: false,
  },
  { table: 'transcript', keeps: ['history'], key: ['seq'], at: 'created_at', isSorted: true },
  {
    // The newest summary of a session says what was before the history.
    table: 'summary',
    keeps: ['history'],
    key: ['seq'],
    at: 'created_at',
    isSorted: true,
    needed: `kind = 'history' and content is not null and ${ofSession('summary')}
      and not exists (select 1 from summary as newer where newer.conversation_id = summary.conversation_id
        and newer.session = summary.session and newer.reader = summary.reader
        and newer.kind = 'history' and newer.content is not null and newer.reaches > summary.reaches)`,
  },
  {
    table: 'session_pin',
    keeps: ['history'],
    key: ['conversation_id', 'session', 'pin_key'],
    at: 'pinned_at',
    isSorted: false,
    needed: ofSession('session_pin'),
  },
  {
    table: 'todo_list',
    keeps: ['history'],
    key: ['conversation_id'],
    at: 'written_at',
    isSorted: false,
    needed: ofSession('todo_list'),
  },
  // Without `settled_at` a dead letter is open: neither it nor its subject ages.
  { table: 'dead_letter', keeps: ['messages'], key: ['seq'], at: 'settled_at', isSorted: false },
  {
    table: 'turn_step',
    keeps: ['messages'],
    key: ['turn_id', 'step_index'],
    at: 'created_at',
    isSorted: true,
    needed: `exists (select 1 from turn where turn.id = turn_step.turn_id and turn.state = 'running')
      or ${hasLetter('turn_step.turn_id')}`,
  },
  {
    table: 'approval',
    keeps: ['messages'],
    key: ['seq'],
    at: 'asked_at',
    isSorted: true,
    needed: `state = 'pending'
      or exists (select 1 from turn where turn.id = approval.turn_id and turn.state = 'running')`,
  },
  {
    table: 'sub_agent',
    keeps: ['messages'],
    key: ['id'],
    at: 'started_at',
    isSorted: false,
    needed: `state = 'running'`,
  },
  {
    // The last run of a task says when the next one is due.
    table: 'heartbeat_run',
    keeps: ['messages'],
    key: ['agent', 'started_at'],
    at: 'started_at',
    isSorted: false,
    needed: `state in ('running', 'waiting', 'held') or not exists (select 1 from heartbeat_run as newer
      where newer.agent = heartbeat_run.agent and newer.task = heartbeat_run.task
        and newer.started_at > heartbeat_run.started_at)`,
  },
  {
    table: 'outbox',
    keeps: ['messages'],
    key: ['seq'],
    at: 'updated_at',
    isSorted: true,
    needed: `state in ('pending', 'sending') or ${hasLetter('outbox.id')}
      or ${refersTo('outbox', 'notice_of', 'outbox.id')}`,
  },
  {
    table: 'inbox',
    keeps: ['messages'],
    key: ['seq'],
    at: 'received_at',
    isSorted: true,
    needed: `state <> 'done' or ${hasLetter('inbox.turn_id')}
      or (from_owner = 1 and ${BY_PERSON} and seq >= coalesce((select seq from inbox
        where from_owner = 1 and ${BY_PERSON} order by seq desc limit 1 offset ${OWNER_MESSAGES - 1}), 0))`,
  },
  {
    table: 'turn',
    keeps: ['messages', 'history'],
    key: ['finished_at', 'id'],
    at: 'finished_at',
    isSorted: true,
    among: 'finished_at is not null',
    needed: `${REFER_TO_TURN.map(([table, column]) => refersTo(table, column, 'turn.id')).join(' or ')}
      or ${hasLetter('turn.id')}
      or exists (select 1 from conversation where conversation.id = turn.conversation_id
        and conversation.plan = turn.id)`,
  },
  {
    table: 'spend',
    keeps: ['spend'],
    key: ['day', 'person_id', 'group_id'],
    at: 'day',
    isSorted: true,
    isDay: true,
  },
];

/** What keeps all other tables small, for `parley storage`. */
export const BOUNDED_WITHOUT_AGE: Readonly<Record<string, string>> = {
  conversation: 'one row for each chat and each run of a sub-agent; kept',
  attachment: 'with its message; the bytes for a day',
  agent_file: 'with its part or its turn; the bytes for a day',
  file_piece: 'bytes of attachments and files of the agent, on PostgreSQL; with them',
  group_context: 'the last 50 of each chat',
  adapter_value: 'by each channel itself',
  pairing_request: 'until the code runs out',
  link_code: 'until the code runs out',
  allowed_sender: 'people; kept',
  account_pause: 'accounts that are paused',
  person_link: 'people; kept',
  memory_entry: 'memories; kept',
  cron_job: 'jobs; until they are done or removed',
  heartbeat: 'one row for each agent',
  soul: 'one row for each agent',
  soul_version: 'versions of SOUL.md; kept',
  lease: 'one row for each thing to hold',
  process: 'a day after it was last seen',
  page_session: 'until it runs out',
  sign_in: 'people who may use the page; until they are revoked',
  retention_run: 'one row',
  store_state: 'one row',
  search_reach: 'two rows',
  search_entry: 'words of messages and answers, for the search; with them',
  parley_migration: 'one row for each step',
};

/** Rows of this rule are old when they are older than this. */
export function beforeOf({ keeps }: RetentionRule, ages: RetentionAges, now: number): number {
  const age = Math.max(...keeps.map((name) => ages[name]));
  return age === 0 ? Number.MAX_SAFE_INTEGER : Math.max(0, now - age);
}

/** Condition: the rows that are older than `:bound` and not needed any more. */
export function isOld({ at, needed }: RetentionRule): string {
  return `${at} < :bound${needed === undefined ? '' : ` and not (${needed})`}`;
}

export const boundOf = ({ isDay }: RetentionRule, at: number) => (isDay === true ? dayOf(at) : at);

/** In UTC; what a time zone adds to it, a bound of many days does not feel. */
export function dayOf(at: number): string {
  return new Date(Math.min(Math.max(at, 0), 8.64e15)).toISOString().slice(0, 10);
}
