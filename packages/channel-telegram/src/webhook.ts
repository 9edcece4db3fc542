import { createHash, timingSafeEqual } from 'node:crypto';
import { type ChannelContext, type ChannelEnv, type HttpFacet, readUpTo } from '@parley/channels';
import { reasonOf } from '@parley/core';
import { z } from 'zod';
import type { TelegramApi } from './connection.ts';
import { afterPollFailure, callFailureOf } from './failures.ts';
import type { TakeUpdate } from './intake.ts';
import { createLanes, laneOf } from './poller.ts';
import type { TelegramSettings } from './settings.ts';
import { type BotIdentity, UPDATE_KINDS, WireUpdate } from './wire.ts';

export interface WebhookDeps
  extends ChannelEnv,
    Pick<ChannelContext<unknown>, 'report' | 'log' | 'clock'> {
  readonly api: Pick<TelegramApi, 'getMe' | 'call'>;
  readonly webhook: NonNullable<TelegramSettings['webhook']>;
  readonly take: TakeUpdate;
  /** Called once after the webhook was set for the first time; never rejects. */
  readonly connected: (me: BotIdentity) => Promise<void>;
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
 * one chat are taken in the order they came (D02), as an edit may follow its message closely.
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
    // From here on nothing is taken; what Telegram brings comes again at the next start.
    this.#me = undefined;
    await Promise.all([this.#beside, ...this.#underWay]);
  }

  /** One call of Telegram. */
  async fetch(request: Request): Promise<Response> {
    const given = request.headers.get('x-telegram-bot-api-secret-token') ?? '';
    if (!sameSecret(given, this.#deps.webhook.secret)) return answer(401);
    if (request.method !== 'POST') return answer(405);
    const me = this.#me;
    if (me === undefined) return answer(503);
    const body = request.body ? await readUpTo(request.body, MAX_BODY_BYTES) : undefined;
    const update = WireUpdate.safeParse(parse(body));
    if (!update.success) return answer(400);
    const taking = this.#inLanes(laneOf(update.data), () => this.#take(update.data, me));
    this.#underWay.add(taking);
    return taking.finally(() => this.#underWay.delete(taking));
  }

  async #take(update: WireUpdate, me: BotIdentity): Promise<Response> {
    const { log, take } = this.#deps;
    try {
      await take(update, me);
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
    const info = WebhookInfo.parse(await api.call('getWebhookInfo', {}, signal));
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
    const { clock, random, report, wait } = this.#deps;
    const decision = afterPollFailure(callFailureOf(thrown), this.#failures, random());
    if (decision.kind === 'give-up') {
      report({ kind: 'failed', reason: decision.reason, fix: decision.fix });
      return false;
    }
    if (decision.kind === 'drop-webhook') return true;
    this.#failures += 1;
    const { afterMs, reason } = decision;
    report({ kind: 'retrying', reason, nextAttemptAt: clock() + afterMs });
    await wait(afterMs, signal);
    return true;
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

function answer(status: number): Response {
  return new Response(null, { status });
}
