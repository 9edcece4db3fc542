import { z } from 'zod';
import type { Bot, BotTelegram } from './bot.ts';
import { type MakeCall, QUICK_MS } from './calls.ts';
import { toMessageId } from './ephemeral.ts';
import { BotIdentity, UPDATE_KINDS, WireUpdate } from './wire.ts';

/**
 * The connection to the Bot API. The connection's methods reject in the same way as `MakeCall`;
 * `toCallFailure` interprets the error.
 */
export interface TelegramApi {
  getMe(signal: AbortSignal): Promise<BotIdentity>;
  /**
   * Waits up to `waitSeconds` for updates starting at `offset`, and confirms all earlier updates.
   */
  getUpdates(offset: number, waitSeconds: number, signal: AbortSignal): Promise<WireUpdate[]>;
  /** Telegraf's methods. Each call ends after 15 s or when the adapter stops. */
  telegram(): Promise<BotTelegram>;
  /**
   * Makes a call that telegraf does not know, or one that needs its own signal or time limit;
   * `limitMs: null` means no limit.
   */
  call(
    method: string,
    payload: object,
    signal: AbortSignal,
    limitMs?: null | undefined,
  ): Promise<unknown>;
  /**
   * Makes any call that creates a message and returns the message id. The call ends when the signal
   * is aborted, or when no byte has moved for 15 s. `onStart` is called before anything is written.
   */
  send(
    method: string,
    payload: object,
    signal: AbortSignal,
    onStart?: (() => void) | undefined,
  ): Promise<string>;
}

/**
 * A connection on which no byte has moved for this long during a send is considered dead (D13),
 * however long the upload takes (ms).
 */
const SILENT_MS = 15_000;
const SentMessage = z.object({
  message_id: z.int(),
  ephemeral_message_id: z.int().optional(),
  date: z.int().optional(),
});
const Updates = z.array(WireUpdate);

/**
 * Creates the adapter's connection to the Bot API. The first calls do not wait for telegraf, which
 * takes 50 ms to load and does so while the first poll is open.
 */
export function connectTelegramApi(
  call: MakeCall,
  bot: () => Promise<Pick<Bot, 'telegram'>>,
  silentMs = SILENT_MS,
): TelegramApi {
  const telegram = async (): Promise<BotTelegram> => (await bot()).telegram;
  // A load failure is reported by the first update or call that needs telegraf.
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
