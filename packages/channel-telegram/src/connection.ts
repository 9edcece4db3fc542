import {
  type ChannelContext,
  type ChannelEnv,
  computeReconnectBackoff,
  type HttpCapability,
  isSameSecretText,
  parseJson,
  readBody,
  reportAndWait,
  type SecretDoor,
} from '@parley/channels';
import { createLanes, reasonOf } from '@parley/core';
import { z } from 'zod';
import type { TelegramApi } from './api.ts';
import type { Bot } from './bot.ts';
import { decideAfterConnectionFailure, toCallFailure } from './failures.ts';
import { admitBatch, getUpdateLane } from './lanes.ts';
import type { TelegramSettings } from './settings.ts';
import { type BotIdentity, UPDATE_KINDS, WireUpdate } from './wire.ts';

interface UpdatesDeps
  extends ChannelEnv,
    Pick<ChannelContext<unknown>, 'report' | 'log' | 'clock'> {
  readonly api: Pick<TelegramApi, 'getMe' | 'getUpdates' | 'telegram' | 'call'>;
  readonly admit: Bot['admit'];
  /** Called after each successful step. */
  readonly connected: (me: BotIdentity) => void;
}

/** A failure whose message is suitable for people. */
class InterruptionError extends Error {}

/**
 * Repeats the step of a delivery method until the signal is aborted or Telegram refuses the token,
 * pausing after failures. The step receives whether the previous step succeeded. Never rejects.
 */
async function maintainConnection(
  deps: UpdatesDeps,
  step: (isConnected: boolean) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  let isConnected = false;
  let failures = 0;
  let going = true;
  while (going && !signal.aborted) {
    try {
      await step(isConnected);
      isConnected = true;
      failures = 0;
    } catch (thrown) {
      if (!signal.aborted) going = await recoverConnection(deps, thrown, failures, signal);
      isConnected = false;
      failures += 1;
    }
  }
}

/** Pauses after the n-th failure in a row (from 0). Returns whether the loop should continue. */
async function recoverConnection(
  deps: UpdatesDeps,
  thrown: unknown,
  failures: number,
  signal: AbortSignal,
): Promise<boolean> {
  const { api, log, random } = deps;
  const retry = (reason: string): Promise<boolean> => {
    const afterMs = computeReconnectBackoff(failures, random());
    return reportAndWait({ kind: 'retry', afterMs, reason }, deps, signal);
  };
  if (thrown instanceof InterruptionError) return retry(thrown.message);
  const decision = decideAfterConnectionFailure(toCallFailure(thrown), failures, random());
  if (decision.kind !== 'drop-webhook') return reportAndWait(decision, deps, signal);
  log.warn({}, 'a webhook was set for this bot; it is removed, because Parley polls');
  try {
    await (await api.telegram()).deleteWebhook();
    return true;
  } catch (error) {
    return retry(`the webhook cannot be removed: ${toCallFailure(error).reason}`);
  }
}

/** How long one poll waits for updates, in seconds. */
const POLL_SECONDS = 30;

/**
 * Long polling without telegraf, whose polling ends permanently on 400, 401, 404 and 409 and
 * confirms updates whose handler failed. The offset moves only past updates that were admitted. The
 * bot's name is requested alongside the first poll, not before it. The first poll, and the first
 * one after a failure, returns without waiting, so that the state is reported immediately. Never
 * rejects.
 */
export async function pollUpdates(deps: UpdatesDeps, signal: AbortSignal): Promise<void> {
  const { api, admit, report, connected } = deps;
  let me: BotIdentity | undefined;
  let offset = 0;
  const step = async (isConnected: boolean): Promise<void> => {
    const seconds = isConnected ? POLL_SECONDS : 0;
    const [updates, self] = await Promise.all([
      api.getUpdates(offset, seconds, signal),
      me ?? api.getMe(signal),
    ]);
    me = self;
    const result = await admitBatch(updates, offset, getUpdateLane, (update) =>
      admit(update, self),
    );
    offset = result.offset;
    if ('failure' in result)
      throw new InterruptionError(`messages cannot be stored: ${reasonOf(result.failure)}`);
    if (!isConnected) report({ kind: 'connected', as: `@${self.username}` });
    connected(self);
  };
  await maintainConnection(deps, step, signal);
}

interface WebhookDeps extends UpdatesDeps {
  readonly webhook: NonNullable<TelegramSettings['webhook']>;
}

/**
 * The largest accepted request, in bytes. A long message with a link on every character takes a few
 * million bytes, and Telegram would redeliver a refused update forever.
 */
const MAX_BODY_BYTES = 16 * 1024 * 1024;
/** The interval between checks that the webhook is still set, in ms. */
const WATCH_MS = 5 * 60_000;
const WebhookInfo = z.object({
  url: z.string(),
  /** A Unix time in seconds. */
  last_error_date: z.int().nullish(),
  last_error_message: z.string().nullish(),
});

/**
 * Receives updates by webhook instead of polling; telegraf's own webhook breaks characters at chunk
 * boundaries. A call is answered with 200 only after its update is durable (D01); any other answer
 * makes Telegram call again. Calls arrive concurrently. The updates of one chat are admitted in
 * order of arrival (D02), because an edit may follow its message closely.
 */
export class Webhook implements HttpCapability {
  readonly open = true;
  readonly #deps: WebhookDeps;
  readonly #inLanes = createLanes();
  readonly #underWay = new Set<Promise<unknown>>();
  #me: BotIdentity | undefined;
  #isSet = false;

  constructor(deps: WebhookDeps) {
    this.#deps = deps;
  }

  /**
   * Sets the webhook and keeps it set. Resolves once every update received so far is admitted;
   * never rejects.
   */
  async run(signal: AbortSignal): Promise<void> {
    const step = async (): Promise<void> => {
      await this.#hold(signal);
      await this.#deps.wait(WATCH_MS, signal);
    };
    await maintainConnection(this.#deps, step, signal);
    // Nothing is admitted from here on. Telegram delivers later updates again after the next start.
    this.#me = undefined;
    await Promise.all(this.#underWay);
  }

  /** Handles one webhook call from Telegram. */
  async fetch(request: Request, door?: SecretDoor): Promise<Response> {
    if (request.method !== 'POST') return createEmptyResponse(405, { allow: 'POST' });
    const given = request.headers.get('x-telegram-bot-api-secret-token');
    if (given === null) return createEmptyResponse(401);
    if (!isSameSecretText(given, this.#deps.webhook.secret)) {
      const waitSeconds = door?.refuseWrong() ?? 0;
      return waitSeconds === 0
        ? createEmptyResponse(401)
        : createEmptyResponse(429, { 'retry-after': String(waitSeconds) });
    }
    const me = this.#me;
    if (me === undefined) return createEmptyResponse(503);
    const body = await readBody(request, MAX_BODY_BYTES);
    const update = WireUpdate.safeParse(body.kind === 'text' ? parseJson(body.text) : undefined);
    if (!update.success) return createEmptyResponse(400);
    const admitting = this.#inLanes(getUpdateLane(update.data), () => this.#admit(update.data, me));
    this.#underWay.add(admitting);
    return admitting.finally(() => this.#underWay.delete(admitting));
  }

  async #admit(update: WireUpdate, me: BotIdentity): Promise<Response> {
    const { log, admit } = this.#deps;
    try {
      await admit(update, me);
      return createEmptyResponse(200);
    } catch (error) {
      const facts = { update: update.update_id, reason: reasonOf(error) };
      log.error(facts, 'a message could not be stored; Telegram will deliver it again');
      return createEmptyResponse(500);
    }
  }

  async #hold(signal: AbortSignal): Promise<void> {
    const { api, clock, report, webhook, connected } = this.#deps;
    const me = this.#me ?? (await api.getMe(signal));
    const telegram = await api.telegram();
    const info = WebhookInfo.parse(await telegram.getWebhookInfo());
    const isNew = !this.#isSet;
    // The webhook is set at every start, because Telegram does not reveal whether the secret is
    // still the same.
    if (isNew || info.url !== webhook.url) {
      const { url, secret } = webhook;
      const parameters = { url, secret_token: secret, allowed_updates: UPDATE_KINDS };
      await api.call('setWebhook', parameters, signal);
    }
    this.#me = me;
    this.#isSet = true;
    const age = clock() - (info.last_error_date ?? 0) * 1000;
    if (!isNew && age < WATCH_MS) {
      const reason = `Telegram cannot call ${webhook.url}: ${info.last_error_message ?? 'no reason given'}`;
      report({ kind: 'retrying', reason, nextAttemptAt: clock() + WATCH_MS });
    } else {
      report({ kind: 'connected', as: `@${me.username}` });
    }
    connected(me);
  }
}

function createEmptyResponse(
  status: number,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return new Response(null, { status, headers });
}
