import { type Migration, seq } from './migration.ts';

/**
 * What was said in served groups without addressing the bot (F06): waits for the next turn (`turn_id`
 * null), belongs to one while it runs, and is deleted with its commit.
 */
export const OVERHEARD: Migration = {
  number: 3,
  name: 'overheard',
  statements: (dialect) => [
    `create table overheard (
      seq ${seq(dialect)},
      conversation_id text not null references conversation (id),
      channel text not null,
      account text not null,
      chat_id text not null,
      message_id text not null,
      sender_id text not null,
      sender_name text not null,
      text text not null,
      heard_at bigint not null,
      turn_id text references turn (id),
      unique (channel, account, chat_id, message_id)
    )`,
    'create index overheard_waiting on overheard (conversation_id, seq) where turn_id is null',
    'create index overheard_turn on overheard (turn_id, seq) where turn_id is not null',
  ],
};
