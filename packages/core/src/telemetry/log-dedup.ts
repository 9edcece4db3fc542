import { type Monotonic, systemTime } from '../time.ts';

type WriteLine = (level: 'info' | 'warn', facts: object, message: string) => void;

interface Outage {
  readonly since: number;
  /**
   * Errors in which the owner names the server; a line from another component that contains one of
   * these errors is counted.
   */
  readonly reasons: Set<string>;
  errors: number;
  saidAt: number;
  saidErrors: number;
  lastAt: number;
  end: NodeJS.Timeout | undefined;
}

/** The interval at which a line reports that an outage continues, in ms. */
const REPEAT_MS = 30_000;
/**
 * A server counts as recovered once the owner has reported that and nothing has failed for this
 * long, in ms.
 */
const SETTLED_MS = 2_000;
/**
 * Without a report from the owner, an outage counts as over once nothing has failed for this long,
 * in ms.
 */
const QUIET_MS = 60_000;
/** The maximum number of distinct errors that are remembered, which is more than any outage has. */
const MAX_REASONS = 50;

/**
 * Limits the log lines during an outage: its first line is written in full and later lines are
 * counted; one line every 30 s and one line at the end report the count. The owner of a connection
 * logs each failure with the server's name as the fact `outage`, and the recovery with the same
 * name as the fact `recovered`. Lines of other components that repeat such an error are also
 * counted if the error names the server: "read ECONNRESET" alone may have any origin.
 */
export class OutageGate {
  readonly #outages = new Map<string, Outage>();
  readonly #write: WriteLine;
  readonly #monotonic: Monotonic;

  constructor(write: WriteLine, monotonic: Monotonic = systemTime.monotonic) {
    this.#write = write;
    this.#monotonic = monotonic;
  }

  /** Whether this line should be written; otherwise it is counted. */
  admits(facts: object): boolean {
    const { outage, recovered } = readOutageNames(facts);
    if (recovered !== undefined) {
      this.#endSoon(recovered, SETTLED_MS);
      return false;
    }
    const reason = getLoggedReason(facts);
    if (outage !== undefined) return this.#failed(outage, reason);
    if (reason === '' || this.#outages.size === 0) return true;
    const of = [...this.#outages].find(([, { reasons }]) =>
      [...reasons].some((known) => reason.includes(known)),
    );
    if (of === undefined) return true;
    this.#count(...of);
    return false;
  }

  /** Returns true for the first failure of an outage. */
  #failed(name: string, reason: string): boolean {
    const known = this.#outages.get(name);
    const outage = known ?? startOutage(this.#monotonic());
    if (reason.includes(name) && outage.reasons.size < MAX_REASONS) outage.reasons.add(reason);
    if (known === undefined) this.#outages.set(name, outage);
    else this.#count(name, outage);
    this.#endSoon(name, QUIET_MS);
    return known === undefined;
  }

  #count(name: string, outage: Outage): void {
    const now = this.#monotonic();
    outage.errors += 1;
    outage.lastAt = now;
    if (now - outage.saidAt < REPEAT_MS) return;
    const [errors, seconds] = [outage.errors - outage.saidErrors, toSeconds(now - outage.saidAt)];
    Object.assign(outage, { saidAt: now, saidErrors: outage.errors });
    const lasts = toSeconds(now - outage.since);
    const facts = { server: name, errors, lastsSeconds: lasts };
    this.#write('warn', facts, `${name}: still failing, ${errors} errors in ${seconds} s`);
  }

  #endSoon(name: string, afterMs: number): void {
    const outage = this.#outages.get(name);
    if (outage === undefined) return;
    clearTimeout(outage.end);
    outage.end = setTimeout(() => this.#end(name, outage, afterMs === QUIET_MS), afterMs).unref();
  }

  #end(name: string, { since, lastAt, errors }: Outage, isGuess: boolean): void {
    this.#outages.delete(name);
    // A single error was not an outage, and the log already contains it.
    if (isGuess && errors === 1) return;
    const seconds = toSeconds((isGuess ? lastAt : this.#monotonic() - SETTLED_MS) - since);
    const how = isGuess ? 'no more errors' : 'works again';
    this.#write(
      'info',
      { server: name, errors, lastedSeconds: seconds },
      `${name}: ${how} after ${seconds} s, ${errors} errors`,
    );
  }
}

function startOutage(now: number): Outage {
  return {
    since: now,
    reasons: new Set(),
    errors: 1,
    saidAt: now,
    saidErrors: 0,
    lastAt: now,
    end: undefined,
  };
}

function toSeconds(ms: number): number {
  return Math.max(0, Math.round(ms / 1_000));
}

function readOutageNames(facts: object): { readonly outage?: string; readonly recovered?: string } {
  return {
    ...('outage' in facts && typeof facts.outage === 'string' && { outage: facts.outage }),
    ...('recovered' in facts &&
      typeof facts.recovered === 'string' && { recovered: facts.recovered }),
  };
}

/** Returns the reason in a line: the line's own reason, or its error's. */
function getLoggedReason(facts: object): string {
  if ('reason' in facts && typeof facts.reason === 'string') return facts.reason;
  const error = 'error' in facts ? facts.error : 'err' in facts ? facts.err : undefined;
  return error instanceof Error ? error.message : '';
}
