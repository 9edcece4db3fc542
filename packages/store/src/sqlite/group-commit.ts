import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate } from 'node:timers';
import type { Durability, Sql } from '../database.ts';

/** The maximum number of transactions per commit: about 10 ms of work before other tasks run. */
const GROUP_SIZE = 64;

export interface TransactionControl {
  run(statement: 'begin immediate' | 'commit' | 'rollback' | SavepointStatement): void;
  /** Sets the durability of the following commits; must be called outside of transactions. */
  survive(durability: Durability): void;
  /** False outside a transaction, and after SQLite has rolled back the whole transaction. */
  inTransaction(): boolean;
}
type SavepointStatement = 'savepoint one' | 'release one' | 'rollback to one';

/** Resolves one caller's promise; called once the shared commit is on disk. */
type ResolveCaller = () => void;

interface PendingTransaction {
  readonly durability: Durability;
  /**
   * Runs the caller's work and resolves to a function that delivers the result after the commit.
   */
  readonly work: (sql: Sql) => Promise<ResolveCaller>;
  readonly fail: (reason: unknown) => void;
}

/**
 * Syncs once to disk for all transactions requested in the same turn of the event loop, because the
 * sync is the main cost of a small transaction. Each transaction has a savepoint, so a failing one
 * rolls back only itself, and callers are resolved after the shared commit, when their rows are
 * stored.
 */
export class GroupCommit {
  readonly #withConnection: (use: (sql: Sql) => Promise<void>) => Promise<void>;
  readonly #control: TransactionControl;
  #members: PendingTransaction[] = [];
  #scheduled = false;

  /** `withConnection` keeps other work from using the only connection in the meantime. */
  constructor(
    withConnection: (use: (sql: Sql) => Promise<void>) => Promise<void>,
    control: TransactionControl,
  ) {
    this.#withConnection = withConnection;
    this.#control = control;
  }

  /** Runs `work` as a separate transaction and resolves when it is as durable as requested. */
  transact<T>(work: (sql: Sql) => Promise<T>, durability: Durability): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    this.#members.push({
      durability,
      // Runs in the caller's async context instead of the group's, so that a hang is attributed to
      // the work that caused it.
      work: AsyncLocalStorage.bind((sql) => work(sql).then((value) => () => resolve(value))),
      fail: reject,
    });
    this.#schedule();
    return promise;
  }

  /** Resolves once all earlier requests are settled. */
  async idle(): Promise<void> {
    // Groups run in order, so when this transaction settles, all earlier ones have settled too.
    await this.transact(async () => undefined, 'power-cut').catch(() => undefined);
  }

  /**
   * Commits only after all pending events have been handled, because they may add transactions to
   * the group. Waiting also lets timers and sockets run, because `node:sqlite` never yields.
   */
  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => void this.#commitNext());
  }

  async #commitNext(): Promise<void> {
    const group = this.#members.splice(0, GROUP_SIZE);
    try {
      const answers: ResolveCaller[] = [];
      await this.#withConnection(async (sql) => {
        answers.push(...(await this.#commit(group, sql)));
      });
      for (const answer of answers) answer();
    } catch (reason) {
      for (const member of group) member.fail(reason);
    }
    this.#scheduled = false;
    if (this.#members.length > 0) this.#schedule();
  }

  async #commit(group: readonly PendingTransaction[], sql: Sql): Promise<ResolveCaller[]> {
    const strict = group.some(({ durability }) => durability === 'power-cut');
    this.#control.survive(strict ? 'power-cut' : 'process');
    this.#control.run('begin immediate');
    try {
      const answers: ResolveCaller[] = [];
      // A single transaction that fails is rolled back as a whole, so it does not need a savepoint.
      const [only, ...others] = group;
      if (only !== undefined && others.length === 0) answers.push(await only.work(sql));
      else for (const member of group) answers.push(await this.#attempt(member, sql));
      this.#control.run('commit');
      return answers;
    } catch (reason) {
      if (this.#control.inTransaction()) this.#control.run('rollback');
      throw reason;
    }
  }

  async #attempt(member: PendingTransaction, sql: Sql): Promise<ResolveCaller> {
    this.#control.run('savepoint one');
    try {
      const answer = await member.work(sql);
      this.#control.run('release one');
      return answer;
    } catch (reason) {
      // After a full disk, for example, the savepoints are lost, so the whole group fails.
      if (!this.#control.inTransaction()) throw reason;
      this.#control.run('rollback to one');
      this.#control.run('release one');
      return () => member.fail(reason);
    }
  }
}
