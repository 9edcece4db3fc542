/** What one warm message in a direct chat may cost (D16). */
export interface CostBounds {
  /** SQL statements, without `begin`, `commit`, savepoints and pragmas. */
  readonly statements: number;
  /** Transactions that write. */
  readonly transactions: number;
  /** Jobs that are added to a queue. */
  readonly jobs: number;
  /** Commands of Redis, those inside scripts included. */
  readonly redisCommands: number;
}

/**
 * The table that a change must edit which makes a message dearer. Lower a number when a change makes it
 * cheaper; `PARLEY_SHOW_COST=1` prints the statements behind it, by transaction.
 */
export const MESSAGE_COST: Readonly<Record<'embedded' | 'distributed', CostBounds>> = {
  embedded: { statements: 22, transactions: 5, jobs: 1, redisCommands: 0 },
  distributed: { statements: 25, transactions: 6, jobs: 1, redisCommands: 60 },
};

/**
 * What a gateway and a worker may ask together while nothing happens, per second: transactions of
 * PostgreSQL, single statements included, and commands of Redis, those inside scripts included. On average
 * it is about two transactions; a span of some seconds may hold one sweep more of each kind.
 */
export const IDLE_COST = { transactions: 2.3, redisCommands: 8 };

/** Files of the bundle that a start on the default settings loads, and their size: what is over this belongs behind its first use. */
export const FILES_AT_START = 87;
export const BYTES_AT_START = 2_765_000;

/** Files of the bundle that a command loads where no gateway runs: those of its own group of operations, of what they need and of the store. */
export const FILES_OF_COMMANDS: Readonly<Record<string, number>> = {
  ...{ agents: 77, approvals: 68, channels: 84, cron: 89, dead: 63, heartbeat: 85, hooks: 86 },
  ...{ pair: 65, people: 64, sessions: 62, soul: 77, usage: 77, 'why last': 67 },
  ...{ 'memory list': 68, 'memory versions': 68, skills: 84 },
};
