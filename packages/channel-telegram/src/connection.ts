import {
  type ChannelContext,
  type ChannelEnv,
  type HttpFacet,
  parseJson,
  readBody,
  reconnectBackoff,
  reportAndWait,
  type SecretDoor,
  sameSecret,
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

/** A failure whose message is for people as it is. */
class Interrupted extends Error {}

/** What both ways to get updates share: a step that is repeated, and pauses after failures. */
abstract class Connection<Deps extends UpdatesDeps> {
  protected readonly deps: Deps;
  protected me: BotIdentity | undefined;
  /** Whether the last step succeeded. */
  protected isConnected = false;
  /** How long to wait between steps, in ms. */
  protected readonly pauseMs: number = 0;
  #failures = 0;
  #beside: Promise<void> | undefined;

  constructor(deps: Deps) {
    this.deps = deps;
  }

  /** Does its part once, and returns who the bot is. */
  protected abstract step(signal: AbortSignal): Promise<BotIdentity>;

  /** Resolves once all that has arrived is admitted; nothing more is. */
  protected async finish(): Promise<unknown> {
    return undefined;
  }

  /** Goes on until the signal is aborted or Telegram refuses the token. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    let going = true;
    while (going && !signal.aborted) {
      try {
        const me = await this.step(signal);
        this.#failures = 0;
        this.isConnected = true;
        this.#beside ??= this.deps.connected(me);
        if (this.pauseMs > 0) await this.deps.wait(this.pauseMs, signal);
      } catch (thrown) {
        this.isConnected = false;
        if (!signal.aborted) going = await this.#recover(thrown, signal);
      }
    }
    await Promise.all([this.#beside, this.finish()]);
  }

  /** Returns whether to go on. */
  async #recover(thrown: unknown, signal: AbortSignal): Promise<boolean> {
    const { api, log, random } = this.deps;
    const failures = this.#failures;
    this.#failures += 1;
    const retry = (reason: string): Promise<boolean> => {
      const afterMs = reconnectBackoff(failures, random());
      return reportAndWait({ kind: 'retry', afterMs, reason }, this.deps, signal);
    };
    if (thrown instanceof Interrupted) return retry(thrown.message);
    const decision = afterConnectionFailure(callFailureOf(thrown), failures, random());
    if (decision.kind !== 'drop-webhook') return reportAndWait(decision, this.deps, signal);
    log.warn({}, 'a webhook was set for this bot; it is removed, because Parley polls');
    try {
      await (await api.telegram()).deleteWebhook();
      return true;
    } catch (error) {
      return retry(`the webhook cannot be removed: ${callFailureOf(error).reason}`);
    }
  }
}

/** How long one poll waits for updates, in seconds. */
const POLL_SECONDS = 30;

/**
 * Long polling of our own: telegraf's ends for good on 400, 401, 404 and 409, and confirms updates whose handler
 * failed. Offsets move only past updates that were admitted. The bot's name is asked beside the first poll, not before
 * it; the first poll after a failure does not wait, so that the state is reported at once.
 */
export class Poller extends Connection<UpdatesDeps> {
  #offset = 0;

  protected async step(signal: AbortSignal): Promise<BotIdentity> {
    const { api, admit, report } = this.deps;
    const seconds = this.isConnected ? POLL_SECONDS : 0;
    const [updates, me] = await Promise.all([
      api.getUpdates(this.#offset, seconds, signal),
      this.me ?? api.getMe(signal),
    ]);
    this.me = me;
    const result = await admitBatch(updates, this.#offset, laneOf, (update) => admit(update, me));
    this.#offset = result.offset;
    if ('failure' in result)
      throw new Interrupted(`messages cannot be stored: ${reasonOf(result.failure)}`);
    if (!this.isConnected) report({ kind: 'connected', as: `@${me.username}` });
    return me;
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
  const inLanes = createLanes();
  /** By lane. */
  const failed = new Map<string, { readonly id: number; readonly reason: unknown }>();
  const admitNext = async (update: WireUpdate, lane: string): Promise<void> => {
    if (failed.has(lane)) return;
    try {
      await admit(update);
    } catch (reason) {
      failed.set(lane, { id: update.update_id, reason });
    }
  };
  await Promise.all(
    updates.map((update) => inLanes(laneOf(update), () => admitNext(update, laneOf(update)))),
  );
  const [first] = [...failed.values()].sort((a, b) => a.id - b.id);
  if (first !== undefined) return { offset: first.id, failure: first.reason };
  return { offset: Math.max(offset, ...updates.map(({ update_id }) => update_id + 1)) };
}

/**
 * What belongs to one chat is admitted in order; anything else has nothing to wait for. Chats of one business account
 * wait for what is said about its connection.
 */
export function laneOf(update: WireUpdate): string {
  const { update_id, ...contents } = update;
  const [content] = Object.values(contents);
  const connection =
    fieldOf(update.business_connection, 'id') ??
    fieldOf(fieldOf(content, 'message') ?? content, 'business_connection_id');
  if (typeof connection === 'string') return `business ${connection}`;
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
 * Lets Telegram call instead of asking it; telegraf's own webhook breaks characters at the edge of a chunk. A call is
 * answered with 200 only after its update is durable (D01); any other answer makes Telegram call again. Calls come
 * side by side: those about one chat are admitted in the order they came (D02), as an edit may follow its message
 * closely.
 */
export class Webhook extends Connection<WebhookDeps> implements HttpFacet {
  readonly open = true;
  protected override readonly pauseMs = WATCH_MS;
  readonly #inLanes = createLanes();
  readonly #underWay = new Set<Promise<unknown>>();
  #isSet = false;

  /** One call of Telegram. */
  async fetch(request: Request, door?: SecretDoor): Promise<Response> {
    if (request.method !== 'POST') return answer(405, { allow: 'POST' });
    const given = request.headers.get('x-telegram-bot-api-secret-token');
    if (given === null) return answer(401);
    if (!sameSecret(given, this.deps.webhook.secret)) {
      const waitSeconds = door?.refuseWrong() ?? 0;
      return waitSeconds === 0 ? answer(401) : answer(429, { 'retry-after': String(waitSeconds) });
    }
    const { me } = this;
    if (me === undefined) return answer(503);
    const body = await readBody(request, MAX_BODY_BYTES);
    const update = WireUpdate.safeParse(body.kind === 'text' ? parseJson(body.text) : undefined);
    if (!update.success) return answer(400);
    const admitting = this.#inLanes(laneOf(update.data), () => this.#admit(update.data, me));
    this.#underWay.add(admitting);
    return admitting.finally(() => this.#underWay.delete(admitting));
  }

  async #admit(update: WireUpdate, me: BotIdentity): Promise<Response> {
    const { log, admit } = this.deps;
    try {
      await admit(update, me);
      return answer(200);
    } catch (error) {
      const facts = { update: update.update_id, reason: reasonOf(error) };
      log.error(facts, 'message cannot be stored; Telegram is asked to bring it again');
      return answer(500);
    }
  }

  /** Sees that the webhook is set, and how its calls go. */
  protected async step(signal: AbortSignal): Promise<BotIdentity> {
    const { api, clock, report, webhook } = this.deps;
    const me = this.me ?? (await api.getMe(signal));
    const telegram = await api.telegram();
    const info = WebhookInfo.parse(await telegram.getWebhookInfo());
    const isNew = !this.#isSet;
    // Set again at each start: whether the secret is still the same cannot be asked.
    if (isNew || info.url !== webhook.url) {
      const { url, secret } = webhook;
      const parameters = { url, secret_token: secret, allowed_updates: UPDATE_KINDS };
      await api.call('setWebhook', parameters, signal);
    }
    this.me = me;
    this.#isSet = true;
    const age = clock() - (info.last_error_date ?? 0) * 1000;
    if (!isNew && age < WATCH_MS) {
      const reason = `Telegram cannot call ${webhook.url}: ${info.last_error_message ?? 'no reason given'}`;
      report({ kind: 'retrying', reason, nextAttemptAt: clock() + WATCH_MS });
    } else {
      report({ kind: 'connected', as: `@${me.username}` });
    }
    return me;
  }

  protected override finish(): Promise<unknown> {
    // What Telegram brings from here on comes again at the next start.
    this.me = undefined;
    return Promise.all(this.#underWay);
  }
}

function answer(status: number, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(null, { status, headers });
}
