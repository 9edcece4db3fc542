import { type Database, statement } from './database.ts';

/** That an account is not connected because a person wants it so. */
export interface AccountPause {
  readonly channel: string;
  readonly account: string;
  /** Who paused it, for people: `the console`, `the command line`. */
  readonly by: string;
  /** In ms. */
  readonly since: number;
}

/**
 * Accounts that are paused, table `account_pause`: gateways and `parley channels` write it, gateways read it. A
 * pause outlives a restart.
 */
export function accountPauseRepository(database: Database) {
  return {
    /** One that is paused already stays as it is. */
    pause: ({ channel, account, by, since }: AccountPause) =>
      database.change('power-cut', PAUSE, { channel, account, by, since }),

    resume: (channel: string, account: string) =>
      database.change('power-cut', RESUME, { channel, account }),

    list: (): Promise<readonly AccountPause[]> => database.read((sql) => sql.all(LIST)),
  };
}

const PAUSE = statement(`
  insert into account_pause (channel, account, paused_by, since)
  values (:channel, :account, :by, :since) on conflict (channel, account) do nothing`);

const RESUME = statement(
  'delete from account_pause where channel = :channel and account = :account',
);

const LIST = statement(`
  select channel, account, paused_by as "by", since from account_pause
  order by channel, account`).rows<AccountPause>();
