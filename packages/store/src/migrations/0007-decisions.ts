import { type Migration, seq } from './migration.ts';

/** Why a message was not taken (D08); of what was taken the inbox itself tells. No text is kept. */
export const DECISIONS: Migration = {
  number: 7,
  name: 'decisions',
  statements: (dialect) => [
    `create table decision (
      seq ${seq(dialect)},
      channel text not null,
      account text not null,
      chat_id text not null,
      message_id text not null,
      sender_id text not null,
      outcome text not null,
      reason text not null,
      decided_at bigint not null,
      unique (channel, account, chat_id, message_id)
    )`,
    'create index decision_chat on decision (channel, account, chat_id, seq)',
  ],
};
