/**
 * How many operations may run before the event loop gets a turn. Sixteen are about 2 ms.
 */
const OPERATIONS_PER_TURN = 16;

/**
 * Keeps timers and sockets alive under load. SQLite calls finish at once, so workers and producers
 * would chain in microtasks for ever and the event loop would never move on. Everybody who
 * shares a file shares the budget; when it is spent, all of them wait for the same `setImmediate`.
 */
export class TurnBudget {
  #left = OPERATIONS_PER_TURN;
  #nextTurn: Promise<void> | undefined;

  /** Takes one operation from the budget; a promise means "await me, then take again". */
  take(): Promise<void> | undefined {
    if (this.#left > 0) {
      this.#left -= 1;
      return undefined;
    }
    this.#nextTurn ??= new Promise((resolve) => {
      setImmediate(() => {
        this.#left = OPERATIONS_PER_TURN;
        this.#nextTurn = undefined;
        resolve();
      });
    });
    return this.#nextTurn;
  }
}
