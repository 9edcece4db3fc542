import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate } from 'node:timers';
import type { Durability, Sql } from '../database.ts';

/** So many transactions at most share a commit: about 10 ms of work before others get a turn. */
const GROUP_SIZE = 64;

/** The commands of a transaction, run on the connection that the group holds. */
export interface TransactionControl {
  run(statement: 'begin immediate' | 'commit' | 'rollback' | Savepoint): void;
  /** Sets what the following commits survive; called outside of transactions. */
  survive(durability: Durability): void;
  /** False outside a transaction, and when SQLite gave the whole transaction up by itself. */
  inTransaction(): boolean;
}
type Savepoint = 'savepoint one' | 'release one' | 'rollback to one';

/** Gives one caller its answer; called when the common commit is on the disk. */
type Answer = () => void;

interface Member {
  readonly durability: Durability;
  /** Does the caller's work; resolves to the result for the caller if the commit succeeds. */
  readonly work: (sql: Sql) => Promise<Answer>;
  readonly fail: (reason: unknown) => void;
}

/**
 * One sync to disk for all transactions that are asked for in the same turn of the event loop:
 * the sync is what a small transaction costs. Each has a savepoint, so a failing one undoes only
 * itself, and each caller is answered after the common commit, so accepted still means stored.
 */
export class GroupCommit {
  readonly #withConnection: (use: (sql: Sql) => Promise<void>) => Promise<void>;
  readonly #control: TransactionControl;
  #members: Member[] = [];
  #scheduled = false;

  /** `withConnection` keeps all others from the only connection meanwhile. */
  constructor(
    withConnection: (use: (sql: Sql) => Promise<void>) => Promise<void>,
    control: TransactionControl,
  ) {
    this.#withConnection = withConnection;
    this.#control = control;
  }

  /** Runs `work` as a transaction of its own; resolves when it is as durable as asked. */
  transact<T>(work: (sql: Sql) => Promise<T>, durability: Durability): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    this.#members.push({
      durability,
      // Of its caller, whatever the group runs in: a hang must be blamed on the work that it belongs to.
      work: AsyncLocalStorage.bind((sql) => work(sql).then((value) => () => resolve(value))),
      fail: reject,
    });
    this.#schedule();
    return promise;
  }

  /** Resolves when everything that was asked for is answered, well or badly. */
  async idle(): Promise<void> {
    // Groups are formed in order, so whatever this one comes to, those before it are through.
    await this.transact(async () => undefined, 'power-cut').catch(() => undefined);
  }

  /**
   * Not at once but after the events that are ready: they may bring more members, and timers and
   * sockets get their turn, which they would not while `node:sqlite` answers without waiting.
   */
  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => void this.#commitNext());
  }

  async #commitNext(): Promise<void> {
    const group = this.#members.splice(0, GROUP_SIZE);
    try {
      const answers: Answer[] = [];
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

  async #commit(group: readonly Member[], sql: Sql): Promise<Answer[]> {
    const strict = group.some(({ durability }) => durability === 'power-cut');
    this.#control.survive(strict ? 'power-cut' : 'process');
    this.#control.run('begin immediate');
    try {
      const answers: Answer[] = [];
      // What fails alone is undone with the transaction; only several need a savepoint each.
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

  async #attempt(member: Member, sql: Sql): Promise<Answer> {
    this.#control.run('savepoint one');
    try {
      const answer = await member.work(sql);
      this.#control.run('release one');
      return answer;
    } catch (reason) {
      // After a full disk, for instance, nothing is left to go back to: the group fails together.
      if (!this.#control.inTransaction()) throw reason;
      this.#control.run('rollback to one');
      this.#control.run('release one');
      return () => member.fail(reason);
    }
  }
}
