import { hasLetter, IN_PERSONS, IN_SEQS, OF_CONVERSATION, rowsWhere } from './conditions.ts';
import {
  addedBy,
  bytes,
  data,
  defineTable,
  int,
  renamedFrom,
  serial,
  words,
  wordsJson,
} from './table.ts';

/** The prefix for reaction ids in `group_context`; no platform id contains a space. */
export const REACTION_PREFIX = 'reaction ';

/**
 * The number of newest messages from owners that are kept regardless of age, because they show
 * where owners can be reached.
 */
export const OWNER_MESSAGES = 200;

const BY_PERSON = `message not like '%,"trigger":"%'`;

const HAS_BYTES = 'where bytes is not null or file_id is not null';

/** Tables for inbound messages and for work that was given up. */
export const MESSAGE_TABLES = {
  /** Messages as received; `seq` is their order within a lane. */
  inbox: defineTable({
    columns: {
      seq: serial(),
      conversation_id: data('not null references conversation (id)'),
      channel: data('not null'),
      account: data('not null'),
      chat_id: data('not null'),
      message_id: data('not null'),
      message: wordsJson('not null'),
      route: data('not null'),
      received_at: int('not null'),
      state: data('not null'),
      turn_id: data('references turn (id)'),
      outcome: data(),
      /** 1 if an owner wrote the message in a direct chat. */
      from_owner: int('not null default 0'),
      reason: words(),
      /** Turns do not claim the message before this time. */
      settles_at: int(),
      interruptions: int('not null default 0'),
      /**
       * The following columns are for `/why`. `done_at`: when the message was set aside or
       * withdrawn. `repeats`: how often the platform sent the message again.
       */
      claimed_at: int(),
      done_at: int(),
      repeats: int('not null default 0'),
      trace: data(),
    },
    unique: ['channel', 'account', 'chat_id', 'message_id'],
    indexes: {
      inbox_waiting: "(conversation_id, seq) where state = 'waiting'",
      inbox_turn: '(turn_id, seq) where turn_id is not null',
      inbox_chat: '(channel, account, chat_id, seq)',
      inbox_owner: '(seq) where from_owner = 1',
      inbox_message: '(message_id)',
      inbox_conversation: '(conversation_id, seq)',
    },
    kept: {
      keeps: ['messages'],
      at: 'received_at',
      needed: `state <> 'done' or ${hasLetter('inbox.turn_id')}
      or (from_owner = 1 and ${BY_PERSON} and seq >= coalesce((select seq from inbox
        where from_owner = 1 and ${BY_PERSON} order by seq desc limit 1 offset ${OWNER_MESSAGES - 1}), 0))`,
    },
    forget: { persons: rowsWhere(`seq ${IN_SEQS}`), counts: 'messages', whole: 'texts' },
  }),
  /** Message files, and transcripts of voice messages. */
  attachment: defineTable({
    columns: {
      inbox_seq: int('not null references inbox (seq) on delete cascade'),
      attachment_index: int('not null'),
      channel: data('not null'),
      account: data('not null'),
      kind: data('not null'),
      name: words(),
      mime_type: data(),
      size: int(),
      ref: data('not null'),
      state: data('not null'),
      reason: words(),
      attempts: int('not null default 0'),
      not_before: int('not null'),
      text: words(),
      created_at: int('not null'),
      updated_at: int('not null'),
      /**
       * This column comes after all other columns from 0.1.0, because SQLite is slow to read
       * columns that follow a large value.
       */
      bytes: bytes(),
      /**
       * The id of the file outside the rows. Bytes stored by 0.1.0 stay in `bytes` until they are
       * dropped, a day after they were fetched.
       */
      file_id: addedBy(34, data()),
      /** The sender as identified by the platform. */
      person: addedBy(34, data()),
      /** 1 if the sender marked the file as view-once; its bytes are dropped after its turn. */
      view_once: addedBy(37, int()),
    },
    key: ['inbox_seq', 'attachment_index'],
    indexes: {
      attachment_pending: "(channel, account, inbox_seq) where state = 'pending'",
      attachment_kept: '(updated_at) where bytes is not null',
    },
    later: {
      34: [
        'drop index attachment_kept',
        `create index attachment_kept on attachment (updated_at) ${HAS_BYTES}`,
        `create index attachment_person on attachment (channel, account, person) ${HAS_BYTES}`,
        'create index attachment_file on attachment (file_id) where file_id is not null',
      ],
      37: [
        `create index attachment_view_once on attachment (inbox_seq)
        where view_once = 1 and ref <> '-'`,
      ],
    },
    kept: 'as long as the message; its bytes for one day',
    forget: {
      persons: rowsWhere(`inbox_seq ${IN_SEQS}`),
      counts: 'messages',
      of: 'inbox_seq in (select seq from inbox where conversation_id = :conversation)',
    },
  }),
  /**
   * A group's messages since the last turn (F06), deleted when the turn that claimed them is
   * committed.
   */
  group_context: defineTable({
    columns: {
      seq: serial(),
      conversation_id: data('not null references conversation (id)'),
      channel: data('not null'),
      account: data('not null'),
      chat_id: data('not null'),
      message_id: data('not null'),
      sender_id: data('not null'),
      sender_name: words('not null'),
      text: words('not null'),
      received_at: renamedFrom('heard_at', 38, int('not null')),
      /**
       * The running turn that claimed the message; null while the message waits for the next turn.
       */
      turn_id: data('references turn (id)'),
    },
    unique: ['channel', 'account', 'chat_id', 'message_id'],
    indexes: {
      group_context_waiting: '(conversation_id, seq) where turn_id is null',
      group_context_turn: '(turn_id, seq) where turn_id is not null',
    },
    kept: 'the newest 50 in each chat',
    forget: {
      // Other people's reactions may quote this person's text.
      persons: rowsWhere(`${OF_CONVERSATION} and (channel || ':' || sender_id ${IN_PERSONS}
        or message_id like '${REACTION_PREFIX}%')`),
      counts: 'messages',
    },
  }),
  /** Why messages were not accepted (D08), without their text. */
  ingress_decision: defineTable({
    formerly: { name: 'decision', until: 38 },
    columns: {
      seq: serial(),
      channel: data('not null'),
      account: data('not null'),
      chat_id: data('not null'),
      message_id: data('not null'),
      sender_id: data('not null'),
      outcome: data('not null'),
      reason: data('not null'),
      decided_at: int('not null'),
      sent_at: int(),
    },
    unique: ['channel', 'account', 'chat_id', 'message_id'],
    indexes: {
      ingress_decision_chat: '(channel, account, chat_id, seq)',
      ingress_decision_message: '(message_id)',
    },
    kept: { keeps: ['decisions'], at: 'decided_at' },
  }),
  /** Work that was given up (D06); if it is given up again, it gets another row. */
  dead_letter: defineTable({
    columns: {
      seq: serial(),
      kind: data('not null'),
      /** The id of a part or of a turn. */
      subject: data('not null'),
      died_at: int('not null'),
      settled: data(),
      settled_at: int(),
    },
    indexes: {
      dead_letter_open: '(seq, kind) where settled is null',
      dead_letter_subject: 'unique (subject) where settled is null',
      dead_letter_of: '(subject, seq)',
    },
    kept: {
      keeps: ['messages'],
      // Null for an open dead letter, so that neither it nor its subject ages.
      at: 'settled_at',
      isUnsorted: true,
    },
  }),
};
