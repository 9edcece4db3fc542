import {
  ALL_OF_GROUP,
  hasLetter,
  IN_PERSONS,
  IN_TURNS,
  OF_CONVERSATION,
  rowsWhere,
} from './conditions.ts';
import { addedBy, data, defineTable, int, real, serial, words, wordsJson } from './table.ts';

/**
 * How long a process relies on a prompt text being stored before it updates the text's row again,
 * in ms.
 */
export const TEXT_KNOWN_MS = 60 * 60_000;

/** Tables for turns and their records. */
export const TURN_TABLES = {
  /** Turns, including the one that is running in each conversation. */
  turn: defineTable({
    columns: {
      id: data('not null primary key'),
      conversation_id: data('not null references conversation (id)'),
      /** `-1 - session` once a rewind has removed the turn from the history (G23). */
      session: int('not null'),
      /**
       * A suspended turn stays `running`, and `awaits` names the approval it waits for, so that all
       * code that ends or counts unfinished turns includes it.
       */
      state: data('not null'),
      /** How many times the turn was started; `runs` (JSON) records when and by which worker. */
      attempts: int('not null'),
      reason: words(),
      model: data(),
      input_tokens: int(),
      output_tokens: int(),
      cost_usd: real(),
      started_at: int('not null'),
      finished_at: int(),
      awaits: data(),
      runs: data(),
      /**
       * The author of the newest message, and when a person's first message was accepted, for usage
       * (U07).
       */
      person_id: data(),
      asked_at: int(),
      /** The number of `input_tokens` that came from the provider's cache. */
      cached_tokens: int(),
      /**
       * Set while the turn's model is unavailable: when that began, and when to try the turn again.
       */
      put_off_since: addedBy(35, int()),
      put_off_until: addedBy(35, int()),
      /**
       * Set if a person wrote the turn on the page (U12): the person, `agent` or `self`, and the
       * request, so that a repeated request has no effect.
       */
      written_by: addedBy(39, data()),
      written_as: addedBy(39, data()),
      request_key: addedBy(39, data()),
    },
    later: {
      39: ['create unique index turn_request on turn (request_key) where request_key is not null'],
    },
    indexes: {
      turn_running: "unique (conversation_id) where state = 'running'",
      turn_finished: '(finished_at)',
    },
    kept: {
      keeps: ['messages', 'history'],
      at: 'finished_at',
      by: ['finished_at', 'id'],
      among: 'finished_at is not null',
      needed: `${hasLetter('turn.id')}
      or exists (select 1 from conversation where conversation.id = turn.conversation_id
        and conversation.plan = turn.id)`,
    },
    forget: { persons: rowsWhere(`id ${IN_TURNS}`), counts: 'steps', whole: 'texts' },
  }),
  /** A turn's journal (G16). */
  turn_step: defineTable({
    columns: {
      turn_id: data('not null references turn (id)'),
      step_index: int('not null'),
      content: wordsJson('not null'),
      created_at: int('not null'),
      started_at: int(),
      facts: data(),
    },
    key: ['turn_id', 'step_index'],
    kept: {
      keeps: ['messages'],
      at: 'created_at',
      needed: `exists (select 1 from turn where turn.id = turn_step.turn_id and turn.state = 'running')
      or ${hasLetter('turn_step.turn_id')}`,
    },
    forget: {
      persons: rowsWhere(
        `turn_id in (select id from turn where ${OF_CONVERSATION} and state <> 'running')`,
      ),
      counts: 'steps',
      of: 'turn_id in (select id from turn where conversation_id = :conversation)',
    },
  }),
  /** The history that the model reads. */
  transcript: defineTable({
    columns: {
      seq: serial(),
      conversation_id: data('not null references conversation (id)'),
      /** `-1 - session` once a rewind has removed the entry (G23). */
      session: int('not null'),
      turn_id: data('not null references turn (id)'),
      role: data('not null'),
      content: wordsJson('not null'),
      created_at: int('not null'),
    },
    indexes: {
      transcript_session: '(conversation_id, session, seq)',
      transcript_said: '(conversation_id, session, created_at)',
      transcript_turn: '(turn_id)',
    },
    kept: { keeps: ['history'], at: 'created_at' },
    forget: { persons: { by: 'history' }, counts: 'history' },
  }),
  /** Texts in recorded prompts (P17); a text that several prompts share is stored once. */
  prompt_text: defineTable({
    columns: {
      hash: data('not null primary key'),
      content: words('not null'),
      /** When the text was last used, which determines how long it is kept. */
      used_at: int('not null'),
    },
    indexes: { prompt_text_used: '(used_at)' },
    kept: {
      keeps: ['prompts'],
      at: 'used_at',
      by: ['used_at', 'hash'],
      // A process may use a text for this long without updating its row; the time is doubled to
      // allow for slow turns.
      longer: 2 * TEXT_KNOWN_MS,
    },
    forget: 'apart',
  }),
  /** Recorded prompts (P17). Prompt texts are stored in `prompt_text`, and messages as hashes. */
  turn_prompt: defineTable({
    columns: {
      turn_id: data('not null primary key'),
      conversation_id: data('not null'),
      chat_id: data('not null'),
      created_at: int('not null'),
      layout: data('not null'),
      model: data('not null'),
      characters: int('not null'),
      tokens: int('not null'),
      place: data('not null'),
      message_ids: data('not null'),
      /** JSON that refers to texts by hash. */
      parts: data('not null'),
      unsent: data('not null'),
      tools: data('not null'),
      messages: data('not null'),
    },
    indexes: {
      turn_prompt_age: '(created_at, turn_id)',
      turn_prompt_chat: '(chat_id, created_at, turn_id)',
      turn_prompt_conversation: '(conversation_id, created_at, turn_id)',
    },
    kept: { keeps: ['prompts'], at: 'created_at', by: ['created_at', 'turn_id'] },
    forget: { persons: ALL_OF_GROUP },
  }),
  /** Model usage per day, person, group and agent (G17). */
  spend: defineTable({
    columns: {
      day: data('not null'),
      person_id: data('not null'),
      /** Empty for usage in direct chats. */
      group_id: data('not null'),
      input_tokens: int('not null'),
      output_tokens: int('not null'),
      cost_usd: real('not null'),
      /** Empty for the default agent. */
      agent: addedBy(32, data("not null default ''")),
    },
    key: ['day', 'person_id', 'group_id', 'agent'],
    later: {
      32: (dialect, create) =>
        dialect === 'postgres'
          ? [
              'alter table spend drop constraint spend_pkey',
              'alter table spend add primary key (day, person_id, group_id, agent)',
            ]
          : [
              // SQLite cannot change a table's key.
              'alter table spend rename to spend_before',
              create,
              `insert into spend (day, person_id, group_id, input_tokens, output_tokens, cost_usd)
              select day, person_id, group_id, input_tokens, output_tokens, cost_usd from spend_before`,
              'drop table spend_before',
            ],
    },
    kept: { keeps: ['spend'], at: 'day', isDay: true },
  }),
  /** Tool calls that a person allows or denies (G05), and questions asked by `ask_user`. */
  approval: defineTable({
    columns: {
      seq: serial(),
      code: data('not null unique'),
      conversation_id: data('not null references conversation (id)'),
      turn_id: data('not null references turn (id)'),
      call_key: data('not null'),
      tool: data('not null'),
      shown: words('not null'),
      asked_by: data('not null'),
      place: words('not null'),
      /** The ids of the approvers, one per line. */
      approvers: data('not null'),
      state: data('not null'),
      asked_at: int('not null'),
      expires_at: int('not null'),
      decided_by: data(),
      decided_at: int(),
      result: data(),
      /** The conversation in which the approval is decided, unless it is decided on the page. */
      asked_in: data(),
      /** The rule that would always allow such tool calls. */
      rule: words(),
      /** Set for a question, which the person in `asked_by` answers with `answer`. */
      choices: wordsJson(),
      answer: words(),
    },
    unique: ['turn_id', 'call_key'],
    indexes: {
      approval_open: "(conversation_id, seq) where state = 'pending'",
      approval_due: "(expires_at) where state = 'pending'",
      approval_asked: "(asked_in, seq) where state = 'pending'",
    },
    kept: {
      keeps: ['messages'],
      at: 'asked_at',
      needed: `state = 'pending'
      or exists (select 1 from turn where turn.id = approval.turn_id and turn.state = 'running')`,
    },
    forget: {
      persons: rowsWhere(
        `(turn_id ${IN_TURNS} or (${OF_CONVERSATION} and asked_by ${IN_PERSONS}))`,
      ),
    },
  }),
  /** Sub-agent runs (G07). The lanes, turns and journals of sub-agents are ordinary rows. */
  sub_agent: defineTable({
    columns: {
      id: data('not null primary key'),
      call_id: data('not null unique'),
      conversation_id: data('not null unique references conversation (id)'),
      parent_conversation: data('not null references conversation (id)'),
      root_conversation: data('not null references conversation (id)'),
      parent_turn: data('not null references turn (id)'),
      depth: int('not null'),
      title: words('not null'),
      task: words('not null'),
      reader: data('not null'),
      /** The message for which the run works, together with `route`. */
      origin: wordsJson('not null'),
      route: data('not null'),
      from_owner: int('not null'),
      state: data('not null'),
      result: words(),
      steps: int('not null default 0'),
      input_tokens: int('not null default 0'),
      output_tokens: int('not null default 0'),
      cost_usd: real('default 0'),
      started_at: int('not null'),
      finished_at: int(),
    },
    indexes: {
      sub_agent_running: "(root_conversation, depth) where state = 'running'",
      sub_agent_root: '(root_conversation)',
      sub_agent_parent_turn: '(parent_turn)',
    },
    kept: { keeps: ['messages'], at: 'started_at', isUnsorted: true, needed: `state = 'running'` },
    forget: {
      persons: rowsWhere(`parent_turn ${IN_TURNS}`),
      of: 'root_conversation = :conversation',
    },
  }),
  /** Heartbeat runs (H01–H05). */
  heartbeat_run: defineTable({
    columns: {
      id: data('not null primary key'),
      agent: data('not null'),
      task: data('not null'),
      target: data('not null references conversation (id)'),
      state: data('not null'),
      reason: words(),
      alert: words(),
      fingerprint: words(),
      /** `entry` and `parts` are set while an alert is held. */
      entry: wordsJson(),
      parts: wordsJson(),
      held_until: int(),
      turn_id: data('references turn (id)'),
      input_tokens: int('not null default 0'),
      output_tokens: int('not null default 0'),
      started_at: int('not null'),
      finished_at: int(),
    },
    indexes: {
      heartbeat_run_running: "unique (agent) where state = 'running'",
      heartbeat_run_held: "(held_until) where state = 'held'",
      heartbeat_run_task: '(agent, task, started_at)',
      heartbeat_run_started: '(agent, started_at)',
      heartbeat_run_alert: '(agent, fingerprint, started_at) where fingerprint is not null',
      heartbeat_run_turn: '(turn_id) where turn_id is not null',
    },
    kept: {
      keeps: ['messages'],
      at: 'started_at',
      by: ['agent', 'started_at'],
      isUnsorted: true,
      // A task's last run determines when the next one is due.
      needed: `state in ('running', 'waiting', 'held') or not exists (select 1 from heartbeat_run as newer
      where newer.agent = heartbeat_run.agent and newer.task = heartbeat_run.task
        and newer.started_at > heartbeat_run.started_at)`,
    },
    forget: { persons: { by: 'phrases' }, of: 'target = :conversation' },
  }),
};
