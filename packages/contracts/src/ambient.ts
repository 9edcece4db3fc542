/** Milliseconds since 1970; passed in so that tests decide what time it is. */
export type Clock = () => number;

/** Makes a fresh unique id such as `turn_01h…`; passed in so that tests can predict ids. */
export type NewId = (prefix: string) => string;

/**
 * The least a component needs to tell operators something; secrets are removed behind it. Two facts have
 * a meaning of their own: `outage`, the name of a server that does not answer, with each failure, and
 * `recovered`, the same name, once it answers again. Of an outage only a few lines are written.
 */
export interface Logger {
  debug(facts: object, message: string): void;
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
  /** A logger that adds `facts` to each of its lines. */
  child(facts: object): Logger;
}

/** A logger for tests and tools that have nobody to tell. */
export const silentLogger: Logger = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  child: () => silentLogger,
};

/** Counts and observes what happens; the names and labels are those of `/metrics`. */
export interface Meter {
  /** Adds `by` (default 1) to a counter. */
  count(name: string, labels?: Readonly<Record<string, string>>, by?: number): void;
  /** Records a duration in milliseconds. */
  observe(name: string, milliseconds: number, labels?: Readonly<Record<string, string>>): void;
}

/** A meter for tests and tools that measure nothing. */
export const silentMeter: Meter = { count() {}, observe() {} };
