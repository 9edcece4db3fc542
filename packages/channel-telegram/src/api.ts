import { z } from 'zod';
import type { Bot, BotTelegram } from './bot.ts';
import { type MakeCall, QUICK_MS } from './calls.ts';
import { toMessageId } from './ephemeral.ts';
import { BotIdentity, UPDATE_KINDS, WireUpdate } from './wire.ts';

/** The way to the Bot API. Rejects as `MakeCall` does; `callFailureOf` reads it. */
export interface TelegramApi {
  getMe(signal: AbortSignal): Promise<BotIdentity>;
  /** Waits up to `waitSeconds` for updates from `offset` on, and confirms all before it. */
  getUpdates(offset: number, waitSeconds: number, signal: AbortSignal): Promise<WireUpdate[]>;
  /** Telegraf's methods; each ends after 15 s, or when the adapter stops. */
  telegram(): Promise<BotTelegram>;
  /** A call that telegraf does not know, or one with a signal or a limit of its own; `limitMs: null` is none. */
  call(
    method: string,
    payload: object,
    signal: AbortSignal,
    limitMs?: null | undefined,
  ): Promise<unknown>;
  /**
   * Any call that makes a message; the signal ends it, or 15 s in which no byte moves. Returns the id of the
   * message. `onStart` is called before anything is written.
   */
  send(
    method: string,
    payload: object,
    signal: AbortSignal,
    onStart?: (() => void) | undefined,
  ): Promise<string>;
}

/** A connection on which no byte moves for so long during a send is dead (D13), however long an upload takes. In ms. */
const SILENT_MS = 15_000;
const SentMessage = z.object({
  message_id: z.int(),
  ephemeral_message_id: z.int().optional(),
  date: z.int().optional(),
});
const Updates = z.array(WireUpdate);

/**
 * The calls of the adapter. The first ones do not wait for telegraf: it takes 50 ms to load, and does so while the
 * first poll is open.
 */
export function connectTelegramApi(
  call: MakeCall,
  bot: () => Promise<Pick<Bot, 'telegram'>>,
  silentMs = SILENT_MS,
): TelegramApi {
  const telegram = async (): Promise<BotTelegram> => (await bot()).telegram;
  // A failure is reported by the first update or call that needs it.
  const onSent = (): void => void bot().catch(() => {});
  return {
    telegram,
    getMe: async (signal) =>
      BotIdentity.parse(await call('getMe', {}, { signal, limitMs: QUICK_MS })),
    async getUpdates(offset, waitSeconds, signal) {
      const parameters = { offset, timeout: waitSeconds, allowed_updates: UPDATE_KINDS };
      const limitMs = waitSeconds * 1000 + QUICK_MS;
      return Updates.parse(await call('getUpdates', parameters, { signal, limitMs, onSent }));
    },
    async call(method, payload, signal, limitMs) {
      const limit = limitMs === null ? { limitMs: undefined } : {};
      return (await telegram()).callApi(method, payload, { signal, ...limit });
    },
    async send(method, payload, signal, onStart) {
      const options = { signal, onStart, silentMs, limitMs: undefined };
      const sent = await (await telegram()).callApi(method, payload, options);
      return toMessageId(SentMessage.parse(sent));
    },
  };
}
