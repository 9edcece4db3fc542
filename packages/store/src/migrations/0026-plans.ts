import type { Migration } from './migration.ts';

/**
 * The plan that a conversation may run, once (G04): the turn that wrote it, and whether it was run. And
 * the conversation in which a question was put, which is the only one where it is decided (G05).
 */
export const PLANS: Migration = {
  number: 26,
  name: 'plans',
  statements: () => [
    'alter table conversation add column plan text',
    'alter table conversation add column plan_run bigint not null default 0',
    'alter table approval add column asked_in text',
    `update approval set asked_in = conversation_id where state = 'pending'`,
    `create index approval_asked on approval (asked_in, seq) where state = 'pending'`,
  ],
};
