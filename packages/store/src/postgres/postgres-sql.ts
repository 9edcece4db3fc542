import { type Bound, type Sql, type Statement, textFor, valuesOf } from '../database.ts';
import type { Lend } from './lend-connections.ts';
import { type Answer, bindable, type Question } from './query-batch.ts';

/** The text of each statement for PostgreSQL and the name under which connections prepare it. */
export class NamedStatements {
  readonly #known = new Map<Statement, { readonly text: string; readonly name: string }>();

  question(statement: Statement, bound: readonly unknown[]): Question {
    const values = valuesOf(statement, bound).map(bindable);
    if (statement.isComposed) return { text: textFor('postgres', statement), values };
    let known = this.#known.get(statement);
    if (known === undefined) {
      known = { text: textFor('postgres', statement), name: `parley${this.#known.size}` };
      this.#known.set(statement, known);
    }
    return { ...known, values };
  }
}

type Ask = (question: Question) => Promise<Answer>;

/** Queries on one connection, or on any of the pool. */
class PostgresSql implements Sql {
  readonly #named: NamedStatements;
  readonly #ask: Ask;

  constructor(named: NamedStatements, ask: Ask) {
    this.#named = named;
    this.#ask = ask;
  }

  async all<P, R>(statement: Statement<P, R>, ...params: Bound<P>): Promise<R[]> {
    // A statement says what its rows hold.
    return (await this.#ask(this.#named.question(statement, params))).rows as R[];
  }

  async get<P, R>(statement: Statement<P, R>, ...params: Bound<P>): Promise<R | undefined> {
    return (await this.all(statement, ...params))[0];
  }

  async run<P>(statement: Statement<P>, ...params: Bound<P>): Promise<number> {
    return (await this.#ask(this.#named.question(statement, params))).rowCount;
  }

  send<P>(statement: Statement<P>, ...params: Bound<P>): void {
    // The transaction hears of a failure.
    this.#ask(this.#named.question(statement, params)).catch(() => undefined);
  }
}

/** Queries outside of transactions, each on whichever connection is free. */
export function sqlOnPool(named: NamedStatements, lend: Lend, ms: number): Sql {
  return new PostgresSql(named, async (question) => {
    const lent = await lend(ms);
    try {
      return await lent.ask(question);
    } finally {
      lent.release();
    }
  });
}

/**
 * Runs `work` as a transaction. `begin` goes out with the first query, and `commit` behind the last one
 * without waiting for what was only sent.
 */
export async function transact<T>(
  named: NamedStatements,
  lend: () => ReturnType<Lend>,
  work: (sql: Sql) => Promise<T>,
): Promise<T> {
  const lent = await lend();
  const answers: Promise<void>[] = [];
  const failures: unknown[] = [];
  const heard: Ask = (question) => noted(lent.ask(question));
  const noted = <T>(answer: Promise<T>): Promise<T> => {
    answers.push(
      answer.then(
        () => undefined,
        (reason) => void failures.push(reason),
      ),
    );
    return answer;
  };
  try {
    noted(lent.begin());
    const value = await work(new PostgresSql(named, heard));
    const committed = heard({ text: 'commit', name: 'parley_commit' });
    await Promise.all(answers);
    // The first failure made the others; a transaction with one is rolled back by its `commit`.
    if (failures.length > 0) throw failures[0];
    const { command } = await committed;
    if (command !== 'COMMIT') throw new Error(`PostgreSQL answered commit with ${command}.`);
    return value;
  } catch (reason) {
    const cause = isConsequence(reason) ? (failures[0] ?? reason) : reason;
    await lent.ask({ text: 'rollback' }).catch(() => undefined);
    await Promise.all(answers);
    throw cause;
  } finally {
    lent.release();
  }
}

/** "Current transaction is aborted": of a query behind the one that failed. */
function isConsequence(reason: unknown): boolean {
  return reason instanceof Error && 'code' in reason && reason.code === '25P02';
}
