import type { ChatKey } from './conversations.ts';
import { type Database, defineStatement } from './database.ts';

/** A person's decision to disconnect an account, in effect until the account is resumed. */
export interface AccountPause {
  readonly channel: string;
  readonly account: string;
  /** Who paused the account, as shown to users: `the console`, `the command line`. */
  readonly by: string;
  /** When the account was paused, in ms. */
  readonly since: number;
}

/**
 * Paused accounts, stored in the `account_pause` table. Gateways and `parley channels` write this
 * table, and gateways read it. A paused account stays paused after a restart.
 */
export function createAccountPauseRepository(database: Database) {
  return {
    /** Does nothing if the account is already paused. */
    pause: (pause: AccountPause) => database.change('power-cut', PAUSE, pause),

    resume: (channel: string, account: string) =>
      database.change('power-cut', RESUME, { channel, account }),

    list: (): Promise<readonly AccountPause[]> => database.read((sql) => sql.all(PAUSES)),
  };
}

const PAUSE = defineStatement(`
  insert into account_pause (channel, account, paused_by, since)
  values (:channel, :account, :by, :since) on conflict (channel, account) do nothing`);

const RESUME = defineStatement(
  'delete from account_pause where channel = :channel and account = :account',
);

const PAUSES = defineStatement(`
  select channel, account, paused_by as "by", since from account_pause
  order by channel, account`).rows<AccountPause>();

/**
 * A group or channel that wrote to an account without being allowed in the settings. The title
 * comes from the platform and is untrusted.
 */
export interface UnapprovedGroup extends ChatKey {
  readonly title: string | null;
  /** When the group's last message arrived, accurate to a few minutes. */
  readonly seenAt: number;
}

/**
 * The maximum number of groups kept per account, so that adding a bot to many groups cannot fill
 * the table.
 */
const KEPT = 50;
const MAX_TITLE_CHARACTERS = 120;

/**
 * Groups that wrote to an account but are not allowed yet, stored in the `seen_group` table so that
 * a person can allow them. Ingress writes this table; the page and `parley channels` read it. The
 * table does not contain message text.
 */
export function createUnapprovedGroupRepository(database: Database) {
  return {
    /**
     * Records a group that is not allowed. Only the 50 most recent groups of each account are kept.
     */
    note: (group: UnapprovedGroup): Promise<void> =>
      database.write(async (sql) => {
        const title = group.title && [...group.title].slice(0, MAX_TITLE_CHARACTERS).join('');
        sql.send(NOTE, { ...group, title });
        sql.send(PRUNE, group);
      }, 'process'),

    list: (): Promise<readonly UnapprovedGroup[]> => database.read((sql) => sql.all(SEEN)),

    forget: (chat: ChatKey) => database.change('process', FORGET, chat),
  };
}

const NOTE = defineStatement(`
  insert into seen_group (channel, account, chat_id, title, seen_at)
  values (:channel, :account, :chatId, :title, :seenAt)
  on conflict (channel, account, chat_id) do update
    set title = coalesce(excluded.title, seen_group.title), seen_at = excluded.seen_at`);

const PRUNE = defineStatement(`
  delete from seen_group where channel = :channel and account = :account and seen_at < (
    select seen_at from seen_group where channel = :channel and account = :account
    order by seen_at desc limit 1 offset ${KEPT - 1})`);

const SEEN = defineStatement(`
  select channel, account, chat_id as "chatId", title, seen_at as "seenAt"
  from seen_group order by seen_at desc, chat_id`).rows<UnapprovedGroup>();

const FORGET = defineStatement(`
  delete from seen_group where channel = :channel and account = :account and chat_id = :chatId`);
