import type { ChannelAdapter } from '@parley/channels';
import type { WASocket } from '@whiskeysockets/baileys';
import type { WhatsAppAmbience } from './ambience.ts';

/** Phones show "typing" for about 25 s, in ms. */
const REPEAT_MS = 10_000;
/** Without a repetition the typing is over, in ms. */
const OVER_AFTER_MS = 15_000;

/** Pauses before messages: people need longer for long ones, but nobody waits longer than this. In ms. */
const PAUSE = { least: 400, perCharacter: 12, most: 3_000 };

/** How long one would type, shortened by up to half by chance; `random` is in [0, 1). In ms. */
export function typingTimeMs(characters: number, random: number): number {
  const full = Math.min(PAUSE.most, PAUSE.least + characters * PAUSE.perCharacter);
  return Math.round(full * (0.5 + random / 2));
}

/** What typing needs. */
export interface TypingDeps extends Pick<WhatsAppAmbience, 'random' | 'wait'> {
  readonly socket: () => WASocket | undefined;
  /** Ends all waiting when the account stops. */
  readonly signal: AbortSignal;
}

/** Shows that the account types, and that it has stopped; programs that answer at once get blocked. */
export class Typing implements NonNullable<ChannelAdapter['typing']> {
  readonly repeatMs = REPEAT_MS;
  readonly #deps: TypingDeps;
  /** Ends what is shown in a chat. */
  readonly #shown = new Map<string, AbortController>();

  constructor(deps: TypingDeps) {
    this.#deps = deps;
  }

  async show({ chatId }: { readonly chatId: string }): Promise<void> {
    const { signal, wait } = this.#deps;
    this.#shown.get(chatId)?.abort();
    const ending = new AbortController();
    this.#shown.set(chatId, ending);
    await this.#tell('composing', chatId);
    const over = AbortSignal.any([ending.signal, signal]);
    void wait(OVER_AFTER_MS, over).then(() => (over.aborted ? undefined : this.end(chatId)));
  }

  /** Types for as long as a person would, and stops. Never rejects. */
  async before(chatId: string, characters: number, signal: AbortSignal): Promise<void> {
    const { random, wait } = this.#deps;
    await this.show({ chatId }).catch(() => undefined);
    await wait(typingTimeMs(characters, random()), signal);
    await this.end(chatId);
  }

  /** Never rejects: it would be over by itself soon. */
  async end(chatId: string): Promise<void> {
    const shown = this.#shown.get(chatId);
    if (shown === undefined) return;
    this.#shown.delete(chatId);
    shown.abort();
    await this.#tell('paused', chatId).catch(() => undefined);
  }

  async #tell(state: 'composing' | 'paused', chatId: string): Promise<void> {
    await this.#deps.socket()?.sendPresenceUpdate(state, chatId);
  }
}
