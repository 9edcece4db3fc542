import type { Migration } from './migration.ts';

/**
 * When each stage of a message was reached (D08), written with what is written there anyway, and the
 * context of its trace where traces are on. No column holds words of people or arguments of tools.
 */
export const TIMELINE: Migration = {
  number: 25,
  name: 'timeline',
  statements: () => [
    'alter table inbox add column claimed_at bigint',
    'alter table inbox add column done_at bigint',
    'alter table inbox add column repeats bigint not null default 0',
    'alter table inbox add column trace text',
    'create index inbox_message on inbox (message_id)',
    'alter table decision add column sent_at bigint',
    'create index decision_message on decision (message_id)',
    'alter table turn add column runs text',
    'alter table turn_step add column started_at bigint',
    'alter table turn_step add column facts text',
    'alter table outbox add column tried_at bigint',
    'alter table outbox add column sending_at bigint',
    'alter table outbox add column sent_at bigint',
    'alter table outbox add column retries text',
    'alter table outbox add column answers bigint',
    'alter table outbox add column trace text',
    'create index outbox_answers on outbox (answers) where answers is not null',
    'create index dead_letter_of on dead_letter (subject, seq)',
  ],
};
