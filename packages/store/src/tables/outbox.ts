import { hasLetter, IN_TURNS, rowsWhere } from './conditions.ts';
import { addedBy, bytes, data, defineTable, int, serial, words, wordsJson } from './table.ts';

/** Tables for outbound parts and their files. */
export const OUTBOX_TABLES = {
  /** Answer parts on their way to a platform. */
  outbox: defineTable({
    columns: {
      /** A part that is resent gets a new number. */
      seq: serial(),
      id: data('not null unique'),
      idempotency_key: data('not null unique'),
      turn_id: data('references turn (id)'),
      part_index: int(),
      /** The part whose failure this part reports. */
      notice_of: data('references outbox (id)'),
      channel: data('not null'),
      account: data('not null'),
      chat_id: data('not null'),
      route: data('not null'),
      body: wordsJson('not null'),
      state: data('not null'),
      attempts: int('not null default 0'),
      not_before: int('not null'),
      error: words(),
      platform_message_id: data(),
      created_at: int('not null'),
      updated_at: int('not null'),
      /** The epoch of the account lease under which the part is being sent. */
      sender: int(),
      /** When the part was first and last passed to the platform. */
      tried_at: int(),
      sending_at: int(),
      sent_at: int(),
      /** One line for each delay of the part. */
      retries: words(),
      /** The `seq` of the message that the part answers without a turn. */
      answers: int(),
      trace: data(),
      /**
       * Ids of turns and people whose text the part contains, one per line; this excludes the
       * part's own turn and the message that it answers. Null for rows that are older than this
       * column.
       */
      about: addedBy(36, data()),
      has_buttons: addedBy(36, int('not null default 0')),
      /**
       * `edited` or `deleted` if the part was changed after it was sent; also `deleted` if its text
       * was removed while it was being sent.
       */
      changed: addedBy(36, data()),
    },
    indexes: {
      outbox_turn_part: 'unique (turn_id, part_index) where turn_id is not null',
      outbox_unfinished: "(channel, account, chat_id, seq) where state in ('pending', 'sending')",
      outbox_chat: '(channel, account, chat_id, seq)',
      outbox_state: '(state)',
      outbox_undelivered: "(turn_id) where turn_id is not null and state in ('failed', 'unknown')",
      outbox_answers: '(answers) where answers is not null',
      outbox_notice: '(notice_of) where notice_of is not null',
    },
    later: {
      36: (dialect) => {
        const target =
          dialect === 'postgres'
            ? "cast(body as json) #>> '{act,messageId}'"
            : "json_extract(body, '$.act.messageId')";
        const changed = (act: 'edit' | 'delete', state: 'edited' | 'deleted') =>
          `update outbox set changed = '${state}'
      where (channel, account, chat_id, platform_message_id) in (
        select channel, account, chat_id, ${target} from outbox
        where body like '%"act":{"kind":"${act}",%')`;
        return [
          `create index outbox_buttons on outbox (channel, account, chat_id, platform_message_id)
    where has_buttons = 1`,
          `update outbox set has_buttons = 1 where body like '%"buttons":[{%'`,
          changed('edit', 'edited'),
          changed('delete', 'deleted'),
        ];
      },
    },
    kept: {
      keeps: ['messages'],
      at: 'updated_at',
      needed: `state in ('pending', 'sending') or ${hasLetter('outbox.id')}`,
    },
    forget: {
      persons: { by: 'parts' },
      counts: 'answers',
      whole: 'texts',
      // All parts sent to the conversation's chats, including answers to commands.
      of: `(channel, account, chat_id) in
      (select channel, account, chat_id from inbox where conversation_id = :conversation)`,
    },
  }),
  /** Files that the agent sends (`part_id`) or that a tool returned (`turn_id`). */
  agent_file: defineTable({
    columns: {
      id: data('not null primary key'),
      part_id: data('references outbox (id) on delete cascade'),
      turn_id: data('references turn (id) on delete cascade'),
      kind: data('not null'),
      name: words('not null'),
      mime_type: data('not null'),
      size: int('not null'),
      bytes: bytes(),
      created_at: int('not null'),
      file_id: addedBy(34, data()),
    },
    indexes: {
      agent_file_part: '(part_id) where part_id is not null',
      agent_file_turn: '(turn_id) where turn_id is not null',
      agent_file_kept: '(created_at) where bytes is not null',
    },
    later: {
      34: [
        'drop index agent_file_kept',
        'create index agent_file_kept on agent_file (created_at) where bytes is not null or file_id is not null',
        'create index agent_file_file on agent_file (file_id) where file_id is not null',
      ],
    },
    kept: 'as long as the part or turn; its bytes for one day',
    forget: {
      persons: rowsWhere(`turn_id ${IN_TURNS}`),
      counts: 'answers',
      of: `(turn_id in (select id from turn where conversation_id = :conversation)
      or part_id in (select outbox.id from outbox join inbox on outbox.channel = inbox.channel
        and outbox.account = inbox.account and outbox.chat_id = inbox.chat_id
        where inbox.conversation_id = :conversation))`,
    },
  }),
  /** The bytes of files that are not in a folder beside the database. */
  file_piece: defineTable({
    columns: {
      file_id: data('not null'),
      piece_index: int('not null'),
      bytes: bytes('not null'),
    },
    key: ['file_id', 'piece_index'],
    since: 34,
    kept: "contents of attachments and of the agent's files, on PostgreSQL, kept as long as the rows that refer to them",
  }),
};
