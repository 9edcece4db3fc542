/** The maximum cost of one warm message in a direct chat (D16). */
export interface CostBounds {
  /** SQL statements, without `begin`, `commit`, savepoints and pragmas. */
  readonly statements: number;
  /** Transactions that write. */
  readonly transactions: number;
  /** Jobs added to a queue. */
  readonly jobs: number;
  /** Redis commands, including those inside scripts. */
  readonly redisCommands: number;
}

/**
 * A change that makes a message more expensive must edit this table; a change that makes a message
 * cheaper should lower a number. `PARLEY_SHOW_COST=1` prints the statements behind it, by
 * transaction.
 */
export const MESSAGE_COST: Readonly<Record<'embedded' | 'distributed', CostBounds>> = {
  embedded: { statements: 22, transactions: 5, jobs: 1, redisCommands: 0 },
  distributed: { statements: 25, transactions: 6, jobs: 1, redisCommands: 60 },
};

/**
 * The maximum activity of an idle gateway and worker together, per second: PostgreSQL transactions,
 * including single statements, and Redis commands, including those inside scripts. The average is
 * about two transactions; a span of some seconds may contain one more sweep of each kind.
 */
export const IDLE_COST = { transactions: 2.3, redisCommands: 8 };

/**
 * The bundle files that Parley loads when it starts with default settings, and their size. Code
 * beyond this limit should be loaded on first use.
 */
export const FILES_AT_START = 98;
export const BYTES_AT_START = 2_860_000;

/**
 * The bundle files that a command loads without a gateway: its own group of operations, the
 * dependencies of that group, and the store.
 */
export const FILES_OF_COMMANDS: Readonly<Record<string, number>> = {
  ...{ agents: 80, approvals: 71, channels: 84, cron: 93, dead: 66, heartbeat: 88, hooks: 87 },
  ...{ pair: 67, people: 64, sessions: 63, soul: 86, usage: 81, 'why last': 68 },
  ...{ 'memory list': 72, 'memory versions': 68, skills: 87 },
};
