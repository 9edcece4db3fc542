import type {
  ChannelAdapter,
  ChannelContext,
  ChannelDefinition,
  IngressOutcome,
} from '@parley/channels';
import {
  type Capabilities,
  ChannelError,
  type InboundMessage,
  type OutboundPart,
  type Receipt,
} from '@parley/core';
import { z } from 'zod';
import type { Chance } from '../engine/chance.ts';
import type { VirtualTime } from '../engine/virtual-time.ts';

/** What people see in a chat of the platform: one message of the bot. */
export interface Shown {
  readonly id: string;
  readonly chat: string;
  readonly text: string;
  readonly key: string;
  readonly part: string;
  readonly at: number;
}

/** How one send fares. */
export type SendFate =
  | { readonly kind: 'sent' }
  | { readonly kind: 'rate-limited'; readonly retryAfterMs: number }
  /** The connection breaks before or after the platform has taken it, or no answer comes at all. */
  | { readonly kind: 'reset-before' | 'reset-after' | 'swallowed' };

/** What a platform can do, and what goes wrong with it. */
export interface PlatformKind {
  readonly id: string;
  /** It knows a repeated send by its key. */
  readonly hasKeys: boolean;
  /** It can be asked whether a part has arrived. */
  readonly finds: boolean;
}

/** A message that a person has written and the bot has not confirmed yet. */
interface Update {
  readonly number: number;
  readonly message: InboundMessage;
}

/**
 * A platform with people, chats and one bot, behind the contract of channel adapters. It sends an update again until
 * it is confirmed, as Telegram does.
 */
export class Platform {
  readonly kind: PlatformKind;
  readonly #time: VirtualTime;
  readonly #chance: Chance;
  readonly #shown: Shown[] = [];
  readonly #updates: Update[] = [];
  readonly #keys = new Map<string, string>();
  #numbers = 0;

  /** Decides how each send fares; sends are taken by default. */
  sendFate: () => SendFate = () => ({ kind: 'sent' });
  /** Whether an update is delivered although it was confirmed. */
  repeats: () => boolean = () => false;
  /** Hears what people see, when they see it. */
  onShown: (shown: Shown) => void = () => {};
  /** Hears what became of an update that a gateway has handed over. */
  onReceived: (message: InboundMessage, outcome: IngressOutcome) => void = () => {};

  constructor(kind: PlatformKind, time: VirtualTime, chance: Chance) {
    this.kind = kind;
    this.#time = time;
    this.#chance = chance;
  }

  /** Everything that people see of the bot, in the order in which it appeared. */
  get shown(): readonly Shown[] {
    return this.#shown;
  }

  /** How many messages the bot has not confirmed. */
  get unconfirmed(): number {
    return this.#updates.length;
  }

  /** A person writes. */
  write(
    message: Omit<
      InboundMessage,
      'channel' | 'account' | 'messageId' | 'mentions' | 'sentAt' | 'variables'
    >,
  ): string {
    this.#numbers += 1;
    const number = this.#numbers;
    const { id: channel } = this.kind;
    const rest = { mentions: [], sentAt: this.#time.wallClock(), variables: {} };
    const full = { ...rest, ...message, channel, account: 'default', messageId: `u${number}` };
    this.#updates.push({ number, message: full });
    return full.messageId;
  }

  /** The channel as a plugin would bring it. */
  definition(): ChannelDefinition {
    return {
      id: this.kind.id,
      settings: z.strictObject({}),
      load: async () => (context) => this.#adapter(context),
    };
  }

  #adapter(context: ChannelContext<unknown>): ChannelAdapter {
    let receiving: Promise<void> | null = null;
    const ending = new AbortController();
    return {
      capabilities: capabilitiesOf(this.kind),
      start: async () => {
        receiving = this.#poll(context, ending.signal);
      },
      stop: async () => {
        ending.abort();
        await receiving;
      },
      send: (part, signal) => this.#send(part, signal),
      ...(this.kind.finds && {
        findSent: async (part: OutboundPart) => {
          await this.#way();
          return this.#shown.find(({ key }) => key === part.idempotencyKey)?.id;
        },
      }),
    };
  }

  async #poll(context: ChannelContext<unknown>, ending: AbortSignal): Promise<void> {
    context.report({ kind: 'connected', as: this.kind.id });
    while (!ending.aborted) {
      await this.#wait(20, 200);
      for (const update of [...this.#updates]) {
        if (ending.aborted) return;
        try {
          const outcome = await context.receive(update.message);
          this.onReceived(update.message, outcome);
        } catch (error) {
          // Not stored, so not confirmed: it comes again.
          context.log.warn({ reason: String(error) }, 'an update was not stored');
          break;
        }
        await this.#way();
        if (!this.repeats()) this.#confirm(update);
      }
    }
  }

  #confirm(update: Update): void {
    const at = this.#updates.indexOf(update);
    if (at >= 0) this.#updates.splice(at, 1);
  }

  async #send(part: OutboundPart, signal: AbortSignal): Promise<Receipt> {
    await this.#wait(5, 300);
    const fate = this.sendFate();
    if (fate.kind === 'rate-limited') {
      throw new ChannelError(
        { kind: 'rate-limited', retryAfterMs: fate.retryAfterMs, scope: 'chat' } as const,
        'the simulated platform asks for patience',
      );
    }
    if (fate.kind === 'reset-before') throw lost();
    if (fate.kind === 'swallowed') await silence(signal);
    const id = this.#show(part);
    await this.#way();
    if (fate.kind === 'reset-after') throw lost();
    return { platformMessageId: id };
  }

  #show(part: OutboundPart): string {
    const { idempotencyKey: key, route, body } = part;
    const known = this.kind.hasKeys ? this.#keys.get(key) : undefined;
    if (known !== undefined) return known;
    const id = `b${this.#shown.length + 1}`;
    this.#keys.set(key, id);
    const shown = {
      id,
      chat: route.chatId,
      text: body.plain,
      key,
      part: part.id,
      at: this.#time.now,
    };
    this.#shown.push(shown);
    this.onShown(shown);
    return id;
  }

  #way(): Promise<void> {
    return this.#wait(1, 20);
  }

  /** In the process that waits: one that is killed goes no further. */
  #wait(from: number, to: number): Promise<void> {
    return new Promise((resolve) => {
      this.#time.plan(this.#chance.between(from, to), resolve);
    });
  }
}

function lost(): ChannelError {
  return new ChannelError({ kind: 'unknown-outcome' }, 'the connection to the platform broke');
}

function silence(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(lost()), { once: true });
  });
}

function capabilitiesOf({ hasKeys }: PlatformKind): Capabilities {
  return {
    target: { dialect: 'plain', maxLength: 4_096, unit: 'utf16' },
    idempotentSend: hasKeys,
    typing: false,
    edit: false,
    delete: false,
    react: false,
    threads: false,
    buttons: false,
    streaming: 'none',
    media: [],
    rates: { account: { burst: 30, everyMs: 34 }, direct: { burst: 3, everyMs: 1_000 } },
  };
}
