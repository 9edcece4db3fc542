import { type ChannelContext, type ChannelEnv, reconnectBackoff } from '@parley/channels';
import { reasonOf } from '@parley/core';
import type { StartTimer } from './connection.ts';
import { dateOf, isLater, laterId, type Position, snowflakeAt } from './positions.ts';
import { type Resumed, type ResumeEnding, resumeSession } from './resume.ts';
import type { Seen } from './seen.ts';

/** The time for which messages of a new session wait for those that an earlier one still has to deliver, in ms. */
const TIMEOUT_MS = 5_000;
/** In a direct chat that is new, messages that were written so long before a session was left are not looked for, in ms. */
const LOOK_BACK_MS = 7 * 24 * 60 * 60_000;
/**
 * A gap that begins so long ago is closed, in ms. Since it begins a week before the session was left at most, whoever wrote in
 * it has another week to write again, also where the bot heard nothing for months, or never before.
 */
const GAP_ENDS_MS = 2 * LOOK_BACK_MS;

type Outcome = 'delivered' | 'gone' | 'stopped';

interface EarlierDeps
  extends Pick<ChannelContext<unknown>, 'log' | 'clock' | 'notifyOwner'>,
    ChannelEnv {
  readonly token: string;
  readonly seen: Seen;
  readonly later: StartTimer;
  /** Called with each event of an earlier session and the position before it. */
  readonly onEvent: (name: string, data: unknown, before: Position) => void;
}

/** Each resolves when the session has come so far, or has ended. */
interface Pending {
  readonly caughtUp: Promise<void>;
  readonly done: Promise<void>;
}

/**
 * Sessions of the gateway that a newer one has replaced. Only they deliver first direct messages that were
 * written before, so each is resumed again and again until it has delivered everything or Discord says that
 * it is gone; until then it stays stored for the next process. Of one that is gone, first direct messages
 * may be missing: that is the gap, and such chats are read from there once they are written to again.
 */
export class EarlierSessions {
  readonly #deps: EarlierDeps;
  /** By session. */
  readonly #pending = new Map<string, Pending>();
  readonly #replaced = Promise.withResolvers<'replaced'>();
  /** The gap before the pending sessions left theirs. */
  #gapBefore: string | undefined;

  constructor(deps: EarlierDeps) {
    this.#deps = deps;
  }

  /** Resumes the sessions that earlier processes have left. */
  start(signal: AbortSignal): void {
    const { seen, clock } = this.#deps;
    if (seen.gap !== undefined && isLater(snowflakeAt(clock() - GAP_ENDS_MS), seen.gap))
      seen.setGap(undefined);
    for (const position of seen.sessions) this.#add(position, signal);
  }

  /** A new session is ready; `before` is the one of this process that it replaces, if any. */
  replace(before: Position | undefined, signal: AbortSignal): void {
    this.#replaced.resolve('replaced');
    if (before !== undefined) this.#add(before, signal);
  }

  /** Whether one may still deliver messages. */
  get arePending(): boolean {
    return this.#pending.size > 0;
  }

  /** Resolves when all have delivered what they missed, or they take too long. Never rejects. */
  caughtUp(signal: AbortSignal): Promise<void> {
    return this.#patiently(({ caughtUp }) => caughtUp, signal);
  }

  /** Resolves when all have ended, or they take too long. Never rejects. */
  settled(signal: AbortSignal): Promise<void> {
    return this.#patiently(({ done }) => done, signal);
  }

  async #patiently(step: (one: Pending) => Promise<void>, signal: AbortSignal): Promise<void> {
    if (!this.arePending) return;
    const over = new AbortController();
    const patience = this.#deps.wait(TIMEOUT_MS, AbortSignal.any([signal, over.signal]));
    await Promise.race([Promise.all([...this.#pending.values()].map(step)), patience]);
    over.abort();
  }

  /** Discord is asked about so many sessions at most: this one is given up. */
  giveUp(position: Position): void {
    if (!this.#pending.delete(position.session)) return;
    this.#gapBefore = this.#deps.seen.gap;
    this.#reportLost(position);
  }

  #add(from: Position, signal: AbortSignal): void {
    const { session } = from;
    if (this.#pending.has(session)) return;
    this.#openGap(from);
    const { promise: caughtUp, resolve } = Promise.withResolvers<void>();
    const done = this.#finish(from, resolve, signal).then((outcome) => {
      resolve();
      this.#settle(from, outcome);
    });
    this.#pending.set(session, { caughtUp, done });
  }

  #settle(position: Position, outcome: Outcome): void {
    const { seen } = this.#deps;
    const { session } = position;
    if (outcome === 'stopped' || !this.#pending.delete(session)) return;
    if (outcome === 'gone') {
      this.#gapBefore = seen.gap;
      this.#reportLost(position);
    } else if (!this.arePending) seen.setGap(this.#gapBefore);
    seen.end(session);
  }

  /** The gap is stored as long as it is not certain that there is none. */
  #openGap(from: Position): void {
    const { seen } = this.#deps;
    if (!this.arePending) this.#gapBefore = seen.gap;
    const start = this.#startOf(from);
    if (seen.gap === undefined || isLater(seen.gap, start)) seen.setGap(start);
  }

  /** After this message a session may have had first direct messages. */
  #startOf({ newest }: Position): string {
    const { seen, clock } = this.#deps;
    const start = newest ?? seen.cursors().newest ?? snowflakeAt(clock());
    return laterId(start, snowflakeAt(clock() - LOOK_BACK_MS));
  }

  /** Resumes a session until it has delivered all that was sent before a newer one was ready. */
  async #finish(first: Position, onCaughtUp: () => void, signal: AbortSignal): Promise<Outcome> {
    const { log, random, wait } = this.#deps;
    let from = first;
    for (let failures = 0; !signal.aborted; failures += 1) {
      const resumed = resumeSession({ ...this.#deps, from }, this.#deps.onEvent);
      signal.addEventListener('abort', resumed.close);
      const ending = await this.#follow(resumed, onCaughtUp);
      signal.removeEventListener('abort', resumed.close);
      resumed.close();
      from = resumed.position();
      if (signal.aborted) return 'stopped';
      if (ending !== 'failed') return ending === 'refused' ? 'stopped' : ending;
      const afterMs = reconnectBackoff(failures, random());
      log.warn(
        { afterMs },
        'Discord does not resume the earlier session yet, which may have direct messages of new people; it is asked again',
      );
      await wait(afterMs, signal);
    }
    return 'stopped';
  }

  async #follow(resumed: Resumed, onCaughtUp: () => void): Promise<ResumeEnding | 'delivered'> {
    const orEnded = <T>(step: Promise<T>) => Promise.race([step, resumed.ended]);
    if ((await orEnded(resumed.caughtUp)) !== 'caught-up') return closeResumed(resumed);
    onCaughtUp();
    if ((await orEnded(this.#replaced.promise)) !== 'replaced') return closeResumed(resumed);
    return (await orEnded(resumed.drained())) === 'drained' ? 'delivered' : closeResumed(resumed);
  }

  #reportLost(position: Position): void {
    const { log, clock, notifyOwner, seen } = this.#deps;
    const { newest, session } = position;
    const start = newest === undefined ? seen.gap : this.#startOf(position);
    const since = start === undefined ? 'while Parley was away' : `since ${dateOf(start)}`;
    log.warn(
      { session, since },
      'Discord no longer has the earlier session: a first direct message of a new person may be missing until they write again',
    );
    const day = new Date(clock()).toISOString().slice(0, 10);
    const note = `Discord no longer reports who wrote to the bot directly for the first time ${since}: Parley was disconnected for too long. Servers and all direct chats that it knows are read. A new person without an answer has to write again; then their earlier messages are read, too. The log names each time; this note comes once a day.`;
    notifyOwner(`first messages ${day}`, note).catch((thrown: unknown) =>
      log.warn({ reason: reasonOf(thrown) }, 'the owner could not be notified'),
    );
  }
}

/** Closes a resumed connection and returns its end. */
async function closeResumed(resumed: Resumed): Promise<ResumeEnding> {
  resumed.close();
  return resumed.ended;
}
