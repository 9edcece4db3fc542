import { createHash, timingSafeEqual } from 'node:crypto';
import {
  type AfterConnectionFailure,
  type ChannelContext,
  type ChannelEnv,
  type HttpFacet,
  readUpTo,
  reconnectBackoff,
  reportAndWait,
  type SecretDoor,
} from '@parley/channels';
import { reasonOf } from '@parley/core';
import { z } from 'zod';
import type { TelegramApi } from './api.ts';
import type { Bot } from './bot.ts';
import { afterConnectionFailure, callFailureOf } from './failures.ts';
import type { TelegramSettings } from './settings.ts';
import { type BotIdentity, UPDATE_KINDS, WireUpdate } from './wire.ts';

/** What both ways to get updates use. */
interface UpdatesDeps
  extends ChannelEnv,
    Pick<ChannelContext<unknown>, 'report' | 'log' | 'clock'> {
  readonly api: Pick<TelegramApi, 'getMe' | 'getUpdates' | 'telegram' | 'call'>;
  readonly admit: Bot['admit'];
  /** Called once when the first call has succeeded; runs beside the others and never rejects. */
  readonly connected: (me: BotIdentity) => Promise<void>;
}

/** How long one poll waits for updates, in seconds. */
const POLL_SECONDS = 30;

/**
 * Long polling of our own: telegraf's ends for good on 400, 401, 404 and 409, and confirms what a failed handler has
 * lost. Offsets move only past updates that were admitted. The bot's name is asked
 * beside the first poll, not before it; the first poll after a failure does not wait, so that the
 * state is reported at once.
 */
export class Poller {
  readonly #deps: UpdatesDeps;
  #me: BotIdentity | undefined;
  #offset = 0;
  #failures = 0;
  #connected = false;
  #beside: Promise<void> | undefined;

  constructor(deps: UpdatesDeps) {
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
    const { api, admit, report } = this.#deps;
    const seconds = this.#connected ? POLL_SECONDS : 0;
    const [updates, me] = await Promise.all([
      api.getUpdates(this.#offset, seconds, signal),
      this.#me ?? api.getMe(signal),
    ]);
    this.#me = me;
    const result = await admitBatch(updates, this.#offset, laneOf, (update) => admit(update, me));
    this.#offset = result.offset;
    if ('failure' in result) {
      await this.#retry(`messages cannot be stored: ${reasonOf(result.failure)}`, signal);
      return;
    }
    this.#failures = 0;
    if (!this.#connected) report({ kind: 'connected', as: `@${me.username}` });
    this.#connected = true;
    this.#beside ??= this.#deps.connected(me);
  }

  /** Returns whether to go on. */
  async #recover(thrown: unknown, signal: AbortSignal): Promise<boolean> {
    const { api, log, random } = this.#deps;
    const failure = callFailureOf(thrown);
    const decision = afterConnectionFailure(failure, this.#failures, random());
    if (decision.kind !== 'drop-webhook') return this.#pause(decision, signal);
    log.warn({}, 'a webhook was set for this bot; it is removed, because Parley polls');
    try {
      await (await api.telegram()).deleteWebhook();
      this.#failures += 1;
      return true;
    } catch (error) {
      return this.#retry(`the webhook cannot be removed: ${callFailureOf(error).reason}`, signal);
    }
  }

  #retry(reason: string, signal: AbortSignal): Promise<boolean> {
    const afterMs = reconnectBackoff(this.#failures, this.#deps.random());
    return this.#pause({ kind: 'retry', afterMs, reason }, signal);
  }

  #pause(decision: AfterConnectionFailure, signal: AbortSignal): Promise<boolean> {
    this.#failures += 1;
    this.#connected = false;
    return reportAndWait(decision, this.#deps, signal);
  }
}

/** How far the updates of one poll have come. */
interface BatchResult {
  /** All updates below this id may be confirmed. */
  readonly offset: number;
  /** Why a later update could not be admitted; it and its successors must come again. */
  readonly failure?: unknown;
}

/**
 * Admits the updates of one poll, each chat in order and chats side by side. When one cannot be admitted
 * its chat stops there, and nothing from it on is confirmed: Telegram brings it again, and what other
 * chats had stored in the meantime is recognised as a duplicate.
 */
export async function admitBatch(
  updates: readonly WireUpdate[],
  offset: number,
  laneOf: (update: WireUpdate) => string,
  admit: (update: WireUpdate) => Promise<void>,
): Promise<BatchResult> {
  const lanes = Map.groupBy(updates, laneOf);
  const failures = await Promise.all([...lanes.values()].map((lane) => admitLane(lane, admit)));
  const [first] = failures
    .filter((failure) => failure !== undefined)
    .sort((a, b) => a.updateId - b.updateId);
  if (first !== undefined) return { offset: first.updateId, failure: first.reason };
  return { offset: Math.max(offset, ...updates.map(({ update_id }) => update_id + 1)) };
}

async function admitLane(
  lane: readonly WireUpdate[],
  admit: (update: WireUpdate) => Promise<void>,
): Promise<{ updateId: number; reason: unknown } | undefined> {
  for (const update of lane) {
    try {
      await admit(update);
    } catch (reason) {
      return { updateId: update.update_id, reason };
    }
  }
  return undefined;
}

/** What belongs to one chat is admitted in order; anything else has nothing to wait for. */
export function laneOf(update: WireUpdate): string {
  const { update_id, ...contents } = update;
  const [content] = Object.values(contents);
  const chat = fieldOf(fieldOf(content, 'message'), 'chat') ?? fieldOf(content, 'chat');
  const id = fieldOf(chat, 'id');
  return typeof id === 'number' ? String(id) : `update ${update_id}`;
}

/** What comes from outside may be anything, and is checked as a whole when it is admitted. */
function fieldOf(value: unknown, name: string): unknown {
  const isObject = typeof value === 'object' && value !== null;
  return isObject ? Reflect.get(value, name) : undefined;
}

/** Runs tasks of one lane one after the other, in the order they were given, and lanes side by side. */
type InLanes = <T>(lane: string, task: () => Promise<T>) => Promise<T>;

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

interface WebhookDeps extends UpdatesDeps {
  readonly webhook: NonNullable<TelegramSettings['webhook']>;
}

/** An update is far smaller; this leaves room for what is to come. In bytes. */
const MAX_BODY_BYTES = 1024 * 1024;
/** How often to check that the webhook is still set, in ms. */
const WATCH_MS = 5 * 60_000;
const WebhookInfo = z.object({
  url: z.string(),
  /** Seconds since 1970. */
  last_error_date: z.int().nullish(),
  last_error_message: z.string().nullish(),
});

/**
 * Lets Telegram call instead of asking it. A call is answered with 200 only after its update is
 * durable (D01); any other answer makes Telegram call again. Calls come side by side: those about
 * one chat are admitted in the order they came (D02), as an edit may follow its message closely.
 */
export class Webhook implements HttpFacet {
  readonly open = true;
  readonly #deps: WebhookDeps;
  readonly #inLanes = createLanes();
  readonly #underWay = new Set<Promise<unknown>>();
  #me: BotIdentity | undefined;
  #failures = 0;
  #connected = false;
  #beside: Promise<void> | undefined;

  constructor(deps: WebhookDeps) {
    this.#deps = deps;
  }

  /** Sets the webhook and sees that it stays, until the signal is aborted or the token is refused. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    let going = true;
    while (going && !signal.aborted) {
      try {
        await this.#hold(signal);
        await this.#deps.wait(WATCH_MS, signal);
      } catch (thrown) {
        if (!signal.aborted) going = await this.#recover(thrown, signal);
      }
    }
    // From here on nothing is admitted; what Telegram brings comes again at the next start.
    this.#me = undefined;
    await Promise.all([this.#beside, ...this.#underWay]);
  }

  /** One call of Telegram. */
  async fetch(request: Request, door?: SecretDoor): Promise<Response> {
    if (request.method !== 'POST') return answer(405, { allow: 'POST' });
    const given = request.headers.get('x-telegram-bot-api-secret-token');
    if (given === null) return answer(401);
    if (!sameSecret(given, this.#deps.webhook.secret)) {
      const waitSeconds = door?.refuseWrong() ?? 0;
      return waitSeconds === 0 ? answer(401) : answer(429, { 'retry-after': String(waitSeconds) });
    }
    const me = this.#me;
    if (me === undefined) return answer(503);
    const body = request.body ? await readUpTo(request.body, MAX_BODY_BYTES) : undefined;
    const update = WireUpdate.safeParse(parse(body));
    if (!update.success) return answer(400);
    const admitting = this.#inLanes(laneOf(update.data), () => this.#admit(update.data, me));
    this.#underWay.add(admitting);
    return admitting.finally(() => this.#underWay.delete(admitting));
  }

  async #admit(update: WireUpdate, me: BotIdentity): Promise<Response> {
    const { log, admit } = this.#deps;
    try {
      await admit(update, me);
      return answer(200);
    } catch (error) {
      const facts = { update: update.update_id, reason: reasonOf(error) };
      log.error(facts, 'message cannot be stored; Telegram is asked to bring it again');
      return answer(500);
    }
  }

  async #hold(signal: AbortSignal): Promise<void> {
    const { api, clock, report, webhook } = this.#deps;
    const me = this.#me ?? (await api.getMe(signal));
    const telegram = await api.telegram();
    const info = WebhookInfo.parse(await telegram.getWebhookInfo());
    // Set again at each start: whether the secret is still the same cannot be asked.
    if (!this.#connected || info.url !== webhook.url) await this.#set(signal);
    this.#me = me;
    this.#failures = 0;
    const age = clock() - (info.last_error_date ?? 0) * 1000;
    if (this.#connected && age < WATCH_MS) {
      const reason = `Telegram cannot call ${webhook.url}: ${info.last_error_message ?? 'no reason given'}`;
      report({ kind: 'retrying', reason, nextAttemptAt: clock() + WATCH_MS });
    } else {
      report({ kind: 'connected', as: `@${me.username}` });
    }
    this.#connected = true;
    this.#beside ??= this.#deps.connected(me);
  }

  async #set(signal: AbortSignal): Promise<void> {
    const { url, secret } = this.#deps.webhook;
    const parameters = { url, secret_token: secret, allowed_updates: UPDATE_KINDS };
    await this.#deps.api.call('setWebhook', parameters, signal);
  }

  /** Returns whether to go on. */
  async #recover(thrown: unknown, signal: AbortSignal): Promise<boolean> {
    const failure = callFailureOf(thrown);
    const decision = afterConnectionFailure(failure, this.#failures, this.#deps.random());
    if (decision.kind === 'drop-webhook') return true;
    this.#failures += 1;
    return reportAndWait(decision, this.#deps, signal);
  }
}

/** All of it at once: a character may be cut by the edge of a chunk. Undefined for bytes that are no UTF-8. */
function parse(body: Uint8Array | undefined): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    return undefined;
  }
}

/** In constant time; lengths are hidden by hashing first. */
function sameSecret(given: string, expected: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}

function answer(status: number, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(null, { status, headers });
}
