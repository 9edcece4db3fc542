import { type ChannelEnv, type ChannelState, reconnectBackoff } from '@parley/channels';
import { type Clock, type Logger, reasonOf } from '@parley/core';
import type { TelegramApi } from './connection.ts';
import { afterPollFailure, callFailureOf } from './failures.ts';
import type { TakeUpdate } from './intake.ts';
import type { BotIdentity, WireUpdate } from './wire.ts';

export interface PollerDeps extends ChannelEnv {
  readonly api: Pick<TelegramApi, 'getMe' | 'getUpdates' | 'deleteWebhook'>;
  readonly take: TakeUpdate;
  readonly laneOf: (update: WireUpdate) => string;
  /** Called once after the first poll that succeeded; runs beside the polls and never rejects. */
  readonly connected: (me: BotIdentity) => Promise<void>;
  readonly report: (state: ChannelState) => void;
  readonly log: Logger;
  readonly clock: Clock;
}

/** How long one poll waits for updates, in seconds. */
const POLL_SECONDS = 30;

/**
 * Long polling that does not end (telegraf's own does, on 400, 401, 404 and 409, and confirms what a
 * failed handler has lost). Offsets move only past updates that were taken. The bot's name is asked
 * beside the first poll, not before it; the first poll after a failure does not wait, so that the
 * state is reported at once.
 */
export class Poller {
  readonly #deps: PollerDeps;
  #me: BotIdentity | undefined;
  #offset = 0;
  #failures = 0;
  #connected = false;
  #beside: Promise<void> | undefined;

  constructor(deps: PollerDeps) {
    this.#deps = deps;
  }

  /** Polls until the signal is aborted or Telegram refuses the token. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    let going = true;
    while (going && !signal.aborted) {
      try {
        await this.#pollOnce(signal);
      } catch (thrown) {
        if (!signal.aborted) going = await this.#recover(thrown, signal);
      }
    }
    await this.#beside;
  }

  async #pollOnce(signal: AbortSignal): Promise<void> {
    const { api, take, laneOf, report } = this.#deps;
    const seconds = this.#connected ? POLL_SECONDS : 0;
    const [updates, me] = await Promise.all([
      api.getUpdates(this.#offset, seconds, signal),
      this.#me ?? api.getMe(signal),
    ]);
    this.#me = me;
    const result = await takeBatch(updates, this.#offset, laneOf, (update) => take(update, me));
    this.#offset = result.offset;
    if ('failure' in result) return this.#storeFailed(result.failure, signal);
    this.#failures = 0;
    if (!this.#connected) report({ kind: 'connected', as: `@${me.username}` });
    this.#connected = true;
    this.#beside ??= this.#deps.connected(me);
  }

  /** Returns whether to go on. */
  async #recover(thrown: unknown, signal: AbortSignal): Promise<boolean> {
    const { log, random, report } = this.#deps;
    const decision = afterPollFailure(callFailureOf(thrown), this.#failures, random());
    switch (decision.kind) {
      case 'give-up':
        report({ kind: 'failed', reason: decision.reason, fix: decision.fix });
        return false;
      case 'drop-webhook':
        log.warn({}, 'a webhook was set for this bot; it is removed, because Parley polls');
        await this.#removeWebhook(signal);
        return true;
      case 'retry':
        await this.#pause(decision.afterMs, decision.reason, signal);
        return true;
    }
  }

  async #removeWebhook(signal: AbortSignal): Promise<void> {
    const { api, random } = this.#deps;
    try {
      await api.deleteWebhook(signal);
      this.#failures += 1;
    } catch (thrown) {
      const reason = `the webhook cannot be removed: ${callFailureOf(thrown).reason}`;
      await this.#pause(reconnectBackoff(this.#failures, random()), reason, signal);
    }
  }

  async #storeFailed(failure: unknown, signal: AbortSignal): Promise<void> {
    const reason = `messages cannot be stored: ${reasonOf(failure)}`;
    await this.#pause(reconnectBackoff(this.#failures, this.#deps.random()), reason, signal);
  }

  async #pause(ms: number, reason: string, signal: AbortSignal): Promise<void> {
    const { clock, report, wait } = this.#deps;
    this.#failures += 1;
    this.#connected = false;
    report({ kind: 'retrying', reason, nextAttemptAt: clock() + ms });
    await wait(ms, signal);
  }
}

/** How far the updates of one poll have come. */
export interface BatchResult {
  /** All updates below this id may be confirmed. */
  readonly offset: number;
  /** Why a later update could not be taken; it and its successors must come again. */
  readonly failure?: unknown;
}

/**
 * Takes the updates of one poll, each chat in order and chats side by side. When one cannot be taken
 * its chat stops there, and nothing from it on is confirmed: Telegram brings it again, and what other
 * chats had stored in the meantime is recognised as a duplicate.
 */
export async function takeBatch(
  updates: readonly WireUpdate[],
  offset: number,
  laneOf: (update: WireUpdate) => string,
  take: (update: WireUpdate) => Promise<void>,
): Promise<BatchResult> {
  const lanes = Map.groupBy(updates, laneOf);
  const failures = await Promise.all([...lanes.values()].map((lane) => takeLane(lane, take)));
  const [first] = failures
    .filter((failure) => failure !== undefined)
    .sort((a, b) => a.updateId - b.updateId);
  if (first !== undefined) return { offset: first.updateId, failure: first.reason };
  return { offset: Math.max(offset, ...updates.map(({ update_id }) => update_id + 1)) };
}

async function takeLane(
  lane: readonly WireUpdate[],
  take: (update: WireUpdate) => Promise<void>,
): Promise<{ updateId: number; reason: unknown } | undefined> {
  for (const update of lane) {
    try {
      await take(update);
    } catch (reason) {
      return { updateId: update.update_id, reason };
    }
  }
  return undefined;
}

/** What belongs to one chat is taken in order; anything else has nothing to wait for. */
export function laneOf(update: WireUpdate): string {
  const { update_id, ...contents } = update;
  const [content] = Object.values(contents);
  const chat = fieldOf(fieldOf(content, 'message'), 'chat') ?? fieldOf(content, 'chat');
  const id = fieldOf(chat, 'id');
  return typeof id === 'number' ? String(id) : `update ${update_id}`;
}

/** What comes from outside may be anything, and is checked as a whole when it is taken. */
function fieldOf(value: unknown, name: string): unknown {
  const isObject = typeof value === 'object' && value !== null;
  return isObject ? Reflect.get(value, name) : undefined;
}

/** Runs tasks of one lane one after the other, in the order they were given, and lanes side by side. */
export type InLanes = <T>(lane: string, task: () => Promise<T>) => Promise<T>;

/** Makes lanes that are forgotten when they are empty. A failed task blocks no other. */
export function createLanes(): InLanes {
  const last = new Map<string, Promise<unknown>>();
  return (lane, task) => {
    const before = last.get(lane) ?? Promise.resolve();
    const running = before.then(task);
    const over = running
      .catch(() => undefined)
      .finally(() => {
        if (last.get(lane) === over) last.delete(lane);
      });
    last.set(lane, over);
    return running;
  };
}
