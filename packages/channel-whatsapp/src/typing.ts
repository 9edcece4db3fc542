import { type ChannelAdapter, type ChannelEnv, jitterDelay } from '@parley/channels';
import type { WASocket } from '@whiskeysockets/baileys';

/**
 * The interval (ms) at which typing is repeated. Phones show the typing indicator for about 25 s.
 */
const REPEAT_MS = 10_000;
/** The time (ms) after which a typing indicator ends unless it is repeated. */
const OVER_AFTER_MS = 15_000;

/** The typing time (ms) before a message, which grows with the message's length up to a limit. */
const PAUSE = { least: 400, perCharacter: 12, most: 3_000 };

/** The simulated typing time (ms), randomly shortened by up to half; `random` is in [0, 1). */
export function computeTypingTimeMs(characters: number, random: number): number {
  const full = Math.min(PAUSE.most, PAUSE.least + characters * PAUSE.perCharacter);
  return jitterDelay(full, random);
}

interface TypingDeps extends ChannelEnv {
  readonly socket: () => WASocket | undefined;
  /** The JID to which answers in a chat are sent. */
  readonly addressOf: (chatId: string) => Promise<string>;
  /** The signal is aborted when the account stops. */
  readonly signal: AbortSignal;
}

/** Starts and stops the typing indicator. WhatsApp blocks programs that answer immediately. */
export class TypingIndicator implements NonNullable<ChannelAdapter['typing']> {
  readonly repeatMs = REPEAT_MS;
  readonly #deps: TypingDeps;
  /** Controllers for stopping the typing indicator, keyed by chat. */
  readonly #shown = new Map<string, AbortController>();

  constructor(deps: TypingDeps) {
    this.#deps = deps;
  }

  async show({ chatId }: { readonly chatId: string }): Promise<void> {
    const { signal, wait } = this.#deps;
    this.#shown.get(chatId)?.abort();
    const ending = new AbortController();
    this.#shown.set(chatId, ending);
    await this.#send('composing', chatId);
    const over = AbortSignal.any([ending.signal, signal]);
    void wait(OVER_AFTER_MS, over).then(() => (over.aborted ? undefined : this.end(chatId)));
  }

  /** Shows typing for as long as a person would type. Never rejects. */
  async before(chatId: string, characters: number, signal: AbortSignal): Promise<void> {
    const { random, wait } = this.#deps;
    await this.show({ chatId }).catch(() => undefined);
    await wait(computeTypingTimeMs(characters, random()), signal);
    await this.end(chatId);
  }

  /** Stops the typing indicator; never rejects, because phones soon stop showing it anyway. */
  async end(chatId: string): Promise<void> {
    const shown = this.#shown.get(chatId);
    if (shown === undefined) return;
    this.#shown.delete(chatId);
    shown.abort();
    await this.#send('paused', chatId).catch(() => undefined);
  }

  async #send(state: 'composing' | 'paused', chatId: string): Promise<void> {
    const to = await this.#deps.addressOf(chatId);
    await this.#deps.socket()?.sendPresenceUpdate(state, to);
  }
}
