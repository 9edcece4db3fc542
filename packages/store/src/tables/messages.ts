import { hasLetter, IN_PERSONS, IN_SEQS, OF_CONVERSATION } from './conditions.ts';
import { bytes, data, int, serial, since, table, words, wordsJson } from './table.ts';

/** Begins the ids of reactions in `group_context`; no platform has ids with a space. */
export const REACTION_PREFIX = 'reaction ';

/** As many as `inbox.ownerChats` reads: where an owner is reached. */
const OWNER_MESSAGES = 200;

const BY_PERSON = `message not like '%,"trigger":"%'`;

const HAS_BYTES = 'where bytes is not null or file_id is not null';

/** What came in, and what was given up. */
export const MESSAGE_TABLES = {
  /** Messages as they came in; the order of a lane is `seq`. */
  inbox: table({
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
      /** 1: an owner wrote it in a direct chat. */
      from_owner: int('not null default 0'),
      reason: words(),
      /** No turn takes it before. */
      settles_at: int(),
      interruptions: int('not null default 0'),
      /** These are for `/why`; `done_at`: set aside or withdrawn, `repeats`: sent again by the platform. */
      claimed_at: int(),
      done_at: int(),
      repeats: int('not null default 0'),
      trace: data(),
    },
    unique: ['channel', 'account', 'chat_id', 'message_id'],
    indexes: [
      `create index inbox_waiting on inbox (conversation_id, seq) where state = 'waiting'`,
      'create index inbox_turn on inbox (turn_id, seq) where turn_id is not null',
      'create index inbox_chat on inbox (channel, account, chat_id, seq)',
      'create index inbox_owner on inbox (seq) where from_owner = 1',
      'create index inbox_message on inbox (message_id)',
      'create index inbox_conversation on inbox (conversation_id, seq)',
    ],
    kept: {
      keeps: ['messages'],
      at: 'received_at',
      needed: `state <> 'done' or ${hasLetter('inbox.turn_id')}
      or (from_owner = 1 and ${BY_PERSON} and seq >= coalesce((select seq from inbox
        where from_owner = 1 and ${BY_PERSON} order by seq desc limit 1 offset ${OWNER_MESSAGES - 1}), 0))`,
    },
    forget: {
      persons: { by: 'rows', where: `seq ${IN_SEQS}` },
      counts: 'messages',
      whole: 'texts',
    },
  }),
  /** Files of messages, and transcripts of voice messages. */
  attachment: table({
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
      /** After all columns of 0.1.0, because SQLite is slow to read what follows a large value. */
      bytes: bytes(),
      /** The file; what 0.1.0 stored is in `bytes` until it is dropped, a day after it was fetched. */
      file_id: since(34, data()),
      /** Its sender as their platform calls them. */
      person: since(34, data()),
      /** 1: its sender lets it be seen once; its bytes go with its turn. */
      view_once: since(37, int()),
    },
    key: ['inbox_seq', 'attachment_index'],
    indexes: [
      `create index attachment_pending on attachment (channel, account, inbox_seq)
    where state = 'pending'`,
      'create index attachment_kept on attachment (updated_at) where bytes is not null',
    ],
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
    kept: 'with its message; the bytes for a day',
    forget: {
      persons: { by: 'rows', where: `inbox_seq ${IN_SEQS}` },
      counts: 'messages',
      of: 'inbox_seq in (select seq from inbox where conversation_id = :conversation)',
    },
  }),
  /** What a group said since the last turn (F06): deleted when the turn that it belongs to is committed. */
  group_context: table({
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
      heard_at: int('not null'),
      /** The turn that it belongs to while it runs; null: it waits for the next. */
      turn_id: data('references turn (id)'),
    },
    unique: ['channel', 'account', 'chat_id', 'message_id'],
    indexes: [
      'create index group_context_waiting on group_context (conversation_id, seq) where turn_id is null',
      'create index group_context_turn on group_context (turn_id, seq) where turn_id is not null',
    ],
    kept: 'the last 50 of each chat',
    forget: {
      // A reaction of anyone may quote them.
      persons: {
        by: 'rows',
        where: `${OF_CONVERSATION} and (channel || ':' || sender_id ${IN_PERSONS}
        or message_id like '${REACTION_PREFIX}%')`,
      },
      counts: 'messages',
    },
  }),
  /** Why a message was not taken (D08). No text is kept. */
  decision: table({
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
    indexes: [
      'create index decision_chat on decision (channel, account, chat_id, seq)',
      'create index decision_message on decision (message_id)',
    ],
    kept: { keeps: ['decisions'], at: 'decided_at' },
  }),
  /** What was given up, one row for each time (D06). */
  dead_letter: table({
    columns: {
      seq: serial(),
      kind: data('not null'),
      /** The id of a part or of a turn. */
      subject: data('not null'),
      died_at: int('not null'),
      settled: data(),
      settled_at: int(),
    },
    indexes: [
      'create index dead_letter_open on dead_letter (seq, kind) where settled is null',
      'create unique index dead_letter_subject on dead_letter (subject) where settled is null',
      'create index dead_letter_of on dead_letter (subject, seq)',
    ],
    kept: {
      keeps: ['messages'],
      // Without it a dead letter is open: neither it nor its subject ages.
      at: 'settled_at',
      isUnsorted: true,
    },
  }),
};
