import { ALL_OF_GROUP, IN_PERSONS, OF_CONVERSATION, ofSession } from './conditions.ts';
import { addedBy, data, defineTable, int, renamedFrom, serial, words, wordsJson } from './table.ts';

/** Selects the person who created a job: the sender of the message in the `origin` column. */
const SENDER_OF_ORIGIN =
  "/*sqlite (origin ->> '$.channel') || ':' || (origin ->> '$.sender.id')*//*pg (cast(origin as json) ->> 'channel') || ':' || (cast(origin as json) #>> '{sender,id}')*/";

/**
 * When a newer version of Parley has migrated a database, a worker from before takeovers keeps
 * running for some seconds. It would answer in a conversation that a person has taken over, so
 * PostgreSQL refuses it the lane. Newer workers check for a takeover themselves. A takeover lasts
 * at most a day, as in `isTakenOver`. SQLite does not need this, because the only process that uses
 * the file has migrated it.
 */
const REFUSE_OLDER_WORKERS = [
  `create function parley_refuse_taken_over() returns trigger language plpgsql as $$
  begin
    raise exception 'a person leads conversation %', old.id;
  end $$`,
  `create trigger conversation_taken_over before update on conversation for each row
  when (new.lease_owner is not null and new.epoch > old.epoch
    and old.taken_over_until > cast(extract(epoch from clock_timestamp()) * 1000 as bigint)
    and old.taken_over_until <= cast(extract(epoch from clock_timestamp()) * 1000 as bigint) + 86400000)
  execute function parley_refuse_taken_over()`,
];

/** Tables for conversations, and for everything that outlasts a turn. */
export const CONVERSATION_TABLES = {
  /** Lanes with their leases, their sessions, and people's choices. */
  conversation: defineTable({
    columns: {
      id: data('not null primary key'),
      /** Fencing token, which grows with every lease and every `/stop`. */
      epoch: int('not null default 0'),
      /** The session number, which grows with `/new`. */
      session: int('not null default 0'),
      lease_owner: data(),
      lease_until: int(),
      created_at: int('not null'),
      mode: data("not null default 'agent'"),
      mode_since: int('not null default 0'),
      /**
       * The turn whose plan may be run; null if there is no plan, or a newer message has arrived.
       */
      plan: data(),
      /** 1 if the plan was run. */
      plan_run: int('not null default 0'),
      /** The model chosen with `/model`; null for the model in the settings. */
      model: data(),
      /**
       * Until this time (ms, shared clock), a person has taken over the conversation and no turn is
       * claimed. If it is null or in the past, the agent answers.
       */
      taken_over_until: addedBy(39, int()),
      /**
       * The newest message (`inbox.seq`) and part (`outbox.seq`) when the conversation was deleted;
       * older ones are not shown.
       */
      deleted_message: addedBy(41, int()),
      deleted_part: addedBy(41, int()),
    },
    later: {
      39: [
        'create index conversation_taken_over on conversation (taken_over_until) where taken_over_until is not null',
      ],
      40: (dialect) => (dialect === 'postgres' ? REFUSE_OLDER_WORKERS : []),
    },
    kept: 'one row per chat and sub-agent run; never removed',
  }),
  /** The record of takeovers (U12): who took a conversation over, and how the takeover ended. */
  takeover: defineTable({
    since: 39,
    columns: {
      seq: serial(),
      conversation_id: data('not null references conversation (id)'),
      /** The name of the person's sign-in. */
      taken_by: data('not null'),
      taken_at: int('not null'),
      until: int('not null'),
      /** When the takeover was ended; null while it lasts, or if it expired. */
      ended_at: int(),
      ended_by: data(),
    },
    indexes: { takeover_conversation: '(conversation_id, seq)' },
    kept: {
      keeps: ['messages', 'history'],
      at: 'taken_at',
      needed: `exists (select 1 from conversation where conversation.id = takeover.conversation_id
        and conversation.taken_over_until = takeover.until)`,
    },
  }),
  /**
   * People who use the inbox; messages (`inbox.seq`) and parts (`outbox.seq`) up to the stored
   * numbers count as read.
   */
  inbox_reader: defineTable({
    since: 41,
    columns: {
      /** The name of a sign-in; empty for the owner, who uses the gateway's token. */
      reader: data('not null primary key'),
      read_message: int('not null'),
      read_part: int('not null'),
    },
    kept: 'one row for each person who uses the page',
  }),
  /** The title, position and read state of a conversation in a person's inbox (U08). */
  conversation_mark: defineTable({
    since: 41,
    columns: {
      reader: data('not null'),
      conversation_id: data('not null references conversation (id)'),
      /** Null for the conversation's original title. */
      title: words(),
      pinned: int('not null default 0'),
      archived: int('not null default 0'),
      /** Null to use the positions in `inbox_reader`. */
      read_message: int(),
      read_part: int(),
    },
    key: ['reader', 'conversation_id'],
    indexes: { conversation_mark_conversation: '(conversation_id)' },
    kept: 'one row for each conversation that a person opened, named, pinned or archived',
    forget: { persons: { by: 'phrases' } },
  }),
  /** Scheduled jobs (H08). */
  cron_job: defineTable({
    columns: {
      id: data('not null primary key'),
      /** The request that created the job; a repeated request does not create another one. */
      request_key: renamedFrom('asked_by', 38, data('not null unique')),
      conversation_id: data('not null references conversation (id)'),
      origin: wordsJson('not null'),
      route: data('not null'),
      from_owner: int('not null'),
      title: words('not null'),
      task: words('not null'),
      timetable: data('not null'),
      state: data('not null'),
      next_at: int(),
      failures: int('not null default 0'),
      last_at: int(),
      /** The id of the message that started the job's last run. */
      last_message_id: renamedFrom('last_message', 38, data()),
      last_outcome: words(),
      created_at: int('not null'),
    },
    indexes: {
      cron_job_due: "(next_at) where state = 'on'",
      cron_job_chat: '(conversation_id, created_at)',
      cron_job_unsettled: '(last_at) where last_message_id is not null and last_outcome is null',
    },
    kept: 'scheduled jobs, until they are done or removed',
    forget: {
      persons: {
        by: 'rows',
        where: `${OF_CONVERSATION} and ${SENDER_OF_ORIGIN} ${IN_PERSONS}`,
        alsoPhrases: true,
      },
    },
  }),
  /** When each agent's next heartbeat is due (H01). */
  heartbeat: defineTable({
    columns: {
      agent: data('not null primary key'),
      every_ms: int('not null'),
      next_at: int('not null'),
      last_at: int(),
      last_reason: data(),
    },
    kept: 'one row per agent',
  }),
  /** The number of the next version of SOUL.md. */
  soul: defineTable({
    columns: {
      agent: data('not null primary key'),
      next_number: int('not null'),
    },
    kept: 'one row per agent',
  }),
  /**
   * Versions of SOUL.md and proposals for them (W06). `/forget` does not change them; only the
   * commands for SOUL.md do.
   */
  soul_version: defineTable({
    columns: {
      agent: data('not null references soul (agent)'),
      number: int('not null'),
      /** The request that proposed the version; a repeated request does not add another one. */
      request_key: renamedFrom('asked_by', 38, data('not null')),
      text: words('not null'),
      head: words('not null'),
      author: data('not null'),
      proposed_by: renamedFrom('by_whom', 38, data()),
      reason: words('not null'),
      based_on: int(),
      diff: words('not null'),
      score: int(),
      findings: words("not null default '[]'"),
      state: data('not null'),
      unnotified: int('not null default 0'),
      created_at: int('not null'),
      judged_at: int(),
      applies_at: int(),
      applied_at: int(),
      decided_by: data(),
    },
    key: ['agent', 'number'],
    unique: ['agent', 'request_key'],
    indexes: { soul_applied: "unique (agent) where state = 'applied'" },
    kept: 'versions of SOUL.md; never removed',
    forget: 'stays',
  }),
  /**
   * Where memories are stored, and how often they were used. The files are authoritative, so
   * `/forget` removes lines from the files.
   */
  memory_entry: defineTable({
    columns: {
      file: data('not null'),
      id: data('not null'),
      type: data('not null'),
      scope: data('not null'),
      person: data(),
      words: data('not null'),
      saved_on: data(),
      channel: data(),
      chat_id: data(),
      message_id: data(),
      uses: int('not null default 0'),
    },
    key: ['file', 'id'],
    indexes: {
      memory_entry_id: '(id)',
      memory_entry_used: '(id, uses) where uses > 0',
    },
    kept: 'memories; kept',
  }),
  /** A session's to-do list (G12). */
  todo_list: defineTable({
    columns: {
      conversation_id: data('not null primary key references conversation (id)'),
      session: int('not null'),
      content: wordsJson('not null'),
      written_at: int('not null'),
    },
    kept: {
      keeps: ['history'],
      at: 'written_at',
      isUnsorted: true,
      needed: ofSession('todo_list'),
    },
    forget: { persons: { by: 'phrases' } },
  }),
  /** Session summaries, each of which is written once because of the key (G11). */
  summary: defineTable({
    columns: {
      seq: serial(),
      conversation_id: data('not null references conversation (id)'),
      session: int('not null'),
      reader: data('not null'),
      kind: data('not null'),
      mark: data('not null'),
      /** The `seq` of the last transcript entry that the summary covers. */
      last_seq: renamedFrom('reaches', 38, int()),
      /** Null while the summary is only claimed. */
      content: wordsJson(),
      claimed_by: data(),
      claimed_until: int('not null'),
      created_at: int('not null'),
    },
    unique: ['conversation_id', 'session', 'reader', 'kind', 'mark'],
    kept: {
      keeps: ['history'],
      at: 'created_at',
      // A session's newest summary is needed, because it replaces the older history.
      needed: `kind = 'history' and content is not null and ${ofSession('summary')}
      and not exists (select 1 from summary as newer where newer.conversation_id = summary.conversation_id
        and newer.session = summary.session and newer.reader = summary.reader
        and newer.kind = 'history' and newer.content is not null and newer.last_seq > summary.last_seq)`,
    },
    forget: { persons: ALL_OF_GROUP },
  }),
  /** The values that stay fixed for a whole session (S07, P05). */
  session_snapshot: defineTable({
    formerly: { name: 'session_pin', until: 38 },
    columns: {
      conversation_id: data('not null references conversation (id)'),
      session: int('not null'),
      snapshot_key: renamedFrom('pin_key', 38, data('not null')),
      content: wordsJson('not null'),
      taken_at: renamedFrom('pinned_at', 38, int('not null')),
    },
    key: ['conversation_id', 'session', 'snapshot_key'],
    kept: {
      keeps: ['history'],
      at: 'taken_at',
      isUnsorted: true,
      needed: ofSession('session_snapshot'),
    },
    forget: { persons: ALL_OF_GROUP },
  }),
};
