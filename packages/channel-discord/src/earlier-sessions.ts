import { type ChannelContext, type ChannelEnv, computeReconnectBackoff } from '@parley/channels';
import { reasonOf } from '@parley/core';
import type { StartTimer } from './connection.ts';
import {
  createSnowflake,
  formatSnowflakeDate,
  isLater,
  type SessionPosition,
  selectLaterId,
} from './positions.ts';
import { type ResumeCloseReason, type ResumedSession, resumeSession } from './resume.ts';
import type { MessageCursorStore } from './seen.ts';

/**
 * How long (ms) messages from a new session wait for those that an earlier session still has to
 * deliver.
 */
const TIMEOUT_MS = 5_000;
/** How long (ms) before the end of a session the fetch of a new direct chat begins. */
const LOOK_BACK_MS = 7 * 24 * 60 * 60_000;
/**
 * The age (ms) at which a gap is closed. A gap begins at most a week before its session ended.
 * Anyone who wrote during the gap therefore has another week to write again, even if the bot
 * received nothing for months or had never received anything.
 */
const GAP_ENDS_MS = 2 * LOOK_BACK_MS;

type SessionOutcome = 'delivered' | 'gone' | 'stopped';

interface EarlierSessionsDeps
  extends Pick<ChannelContext<unknown>, 'log' | 'clock' | 'notifyOwner'>,
    ChannelEnv {
  readonly token: string;
  readonly seen: MessageCursorStore;
  readonly later: StartTimer;
  /**
   * Called with each event from an earlier session, and with the session's position before that
   * event.
   */
  readonly onEvent: (name: string, data: unknown, before: SessionPosition) => void;
}

/** The progress of an earlier session. Both promises also resolve when the session has ended. */
interface PendingSession {
  readonly caughtUp: Promise<void>;
  readonly done: Promise<void>;
}

/**
 * Gateway sessions that were replaced by a newer one. Only these sessions deliver the first direct
 * messages that new people sent before the replacement. Each session is therefore resumed until it
 * has delivered everything or Discord reports that it no longer exists, and until then it stays
 * stored for the next process. If a session no longer exists, first direct messages may be missing.
 * To close this gap, a new direct chat is read starting at the gap as soon as somebody writes in it
 * again.
 */
export class EarlierSessionManager {
  readonly #deps: EarlierSessionsDeps;
  /** Earlier sessions, keyed by session id. */
  readonly #pending = new Map<string, PendingSession>();
  readonly #replaced = Promise.withResolvers<'replaced'>();
  /** The gap before the pending sessions extended it. */
  #gapBefore: string | undefined;

  constructor(deps: EarlierSessionsDeps) {
    this.#deps = deps;
  }

  /** Resumes the sessions left over from earlier processes. */
  start(signal: AbortSignal): void {
    const { seen, clock } = this.#deps;
    if (seen.gap !== undefined && isLater(createSnowflake(clock() - GAP_ENDS_MS), seen.gap))
      seen.setGap(undefined);
    for (const position of seen.sessions) this.#add(position, signal);
  }

  /**
   * Called when a new session is ready; `before` is the session of this process that it replaces,
   * if any.
   */
  replace(before: SessionPosition | undefined, signal: AbortSignal): void {
    this.#replaced.resolve('replaced');
    if (before !== undefined) this.#add(before, signal);
  }

  /** Whether an earlier session may still deliver messages. */
  get arePending(): boolean {
    return this.#pending.size > 0;
  }

  /**
   * Resolves when all sessions have delivered their missed messages, or after the timeout. Never
   * rejects.
   */
  caughtUp(signal: AbortSignal): Promise<void> {
    return this.#patiently(({ caughtUp }) => caughtUp, signal);
  }

  /** Resolves when all sessions have ended, or after the timeout. Never rejects. */
  settled(signal: AbortSignal): Promise<void> {
    return this.#patiently(({ done }) => done, signal);
  }

  async #patiently(
    step: (one: PendingSession) => Promise<void>,
    signal: AbortSignal,
  ): Promise<void> {
    if (!this.arePending) return;
    const over = new AbortController();
    const patience = this.#deps.wait(TIMEOUT_MS, AbortSignal.any([signal, over.signal]));
    await Promise.race([Promise.all([...this.#pending.values()].map(step)), patience]);
    over.abort();
  }

  /** Gives up a session if there are too many. */
  giveUp(position: SessionPosition): void {
    if (!this.#pending.delete(position.session)) return;
    this.#gapBefore = this.#deps.seen.gap;
    this.#reportLost(position);
  }

  #add(from: SessionPosition, signal: AbortSignal): void {
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

  #settle(position: SessionPosition, outcome: SessionOutcome): void {
    const { seen } = this.#deps;
    const { session } = position;
    if (outcome === 'stopped' || !this.#pending.delete(session)) return;
    if (outcome === 'gone') {
      this.#gapBefore = seen.gap;
      this.#reportLost(position);
    } else if (!this.arePending) seen.setGap(this.#gapBefore);
    seen.end(session);
  }

  /** Stores the gap for as long as messages may be missing. */
  #openGap(from: SessionPosition): void {
    const { seen } = this.#deps;
    if (!this.arePending) this.#gapBefore = seen.gap;
    const start = this.#startOf(from);
    if (seen.gap === undefined || isLater(seen.gap, start)) seen.setGap(start);
  }

  /** The message after which a session may lack first direct messages. */
  #startOf({ newest }: SessionPosition): string {
    const { seen, clock } = this.#deps;
    const start = newest ?? seen.cursors().newest ?? createSnowflake(clock());
    return selectLaterId(start, createSnowflake(clock() - LOOK_BACK_MS));
  }

  /** Resumes a session until it has delivered everything sent before a newer session was ready. */
  async #finish(
    first: SessionPosition,
    onCaughtUp: () => void,
    signal: AbortSignal,
  ): Promise<SessionOutcome> {
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
      const afterMs = computeReconnectBackoff(failures, random());
      log.warn(
        { afterMs },
        'Discord does not resume the earlier session yet, which may contain direct messages from new people; trying again',
      );
      await wait(afterMs, signal);
    }
    return 'stopped';
  }

  async #follow(
    resumed: ResumedSession,
    onCaughtUp: () => void,
  ): Promise<ResumeCloseReason | 'delivered'> {
    const orEnded = <T>(step: Promise<T>) => Promise.race([step, resumed.ended]);
    if ((await orEnded(resumed.caughtUp)) !== 'caught-up') return closeResumedSession(resumed);
    onCaughtUp();
    if ((await orEnded(this.#replaced.promise)) !== 'replaced') return closeResumedSession(resumed);
    return (await orEnded(resumed.drained())) === 'drained'
      ? 'delivered'
      : closeResumedSession(resumed);
  }

  #reportLost(position: SessionPosition): void {
    const { log, clock, notifyOwner, seen } = this.#deps;
    const { newest, session } = position;
    const start = newest === undefined ? seen.gap : this.#startOf(position);
    const since =
      start === undefined ? 'while Parley was away' : `since ${formatSnowflakeDate(start)}`;
    log.warn(
      { session, since },
      "Discord no longer has the earlier session: new people's first direct messages may be missing until they write again",
    );
    const day = new Date(clock()).toISOString().slice(0, 10);
    const note = `Parley was disconnected for too long, so Discord no longer reports who wrote to the bot directly for the first time ${since}. Parley has read the servers and all known direct chats. If a new person got no answer, they have to write again; then Parley also reads their earlier messages. The log lists every case; this note is sent once a day.`;
    notifyOwner(`first messages ${day}`, note).catch((thrown: unknown) =>
      log.warn({ reason: reasonOf(thrown) }, 'the owner could not be notified'),
    );
  }
}

/** Closes a resumed connection and returns how it ended. */
async function closeResumedSession(resumed: ResumedSession): Promise<ResumeCloseReason> {
  resumed.close();
  return resumed.ended;
}
