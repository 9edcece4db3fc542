import type {
  ChannelAdapter,
  ChannelContext,
  ChannelDefinition,
  IngressOutcome,
} from '@parley/channels';
import type { InboundMessage, OutboundPart } from '@parley/core';
import { z } from 'zod';
import type { RandomChance } from '../engine/chance.ts';
import type { VirtualTime } from '../engine/virtual-time.ts';
import { type AdapterLife, PlatformAttempts } from './attempts.ts';
import { showGrowing } from './growing.ts';
import { DEFAULT_ACCOUNT, getCapabilities, type PlatformKind } from './platform-kind.ts';
import { SendHandler } from './sending.ts';

export type { PlatformKind } from './platform-kind.ts';
export type { DisplayedMessage } from './sending.ts';

/** A person's message, without the fields that the platform adds. */
export type PersonMessage = Omit<
  InboundMessage,
  'channel' | 'account' | 'messageId' | 'mentions' | 'sentAt' | 'variables'
> & { readonly mentions?: string[] };

/** A person's action that the bot has not confirmed yet. */
type PendingUpdate =
  | {
      readonly kind: 'message' | 'edited';
      readonly account: string;
      readonly message: InboundMessage;
    }
  | { readonly kind: 'deleted'; readonly account: string; readonly message: InboundMessage };

/** An edit or deletion of an earlier message. */
export interface RevisedMessage {
  readonly kind: 'edited' | 'deleted';
  readonly message: InboundMessage;
}

/** The way in which the platform delivers updates. */
export interface UpdateFaults {
  /** Whether an update is delivered again although it was confirmed. */
  repeats(): boolean;
  /** Whether updates of different chats arrive in another order. */
  reorders(): boolean;
}

/**
 * A platform with people, chats and a bot that may have several accounts, behind the contract of
 * channel adapters. It repeats an update until it is confirmed, as Telegram does.
 */
export class Platform {
  readonly kind: PlatformKind;
  readonly attempts = new PlatformAttempts();
  readonly sending: SendHandler;
  readonly #time: VirtualTime;
  readonly #chance: RandomChance;
  readonly #updates: PendingUpdate[] = [];
  readonly #written = new Map<string, PendingUpdate>();
  #numbers = 0;
  #lives = 0;

  /** Decides how updates are delivered; by default each arrives once and in order. */
  updates: UpdateFaults = { repeats: () => false, reorders: () => false };
  /** Called with the outcome of an update that a gateway has handed over. */
  onReceived: (message: InboundMessage, outcome: IngressOutcome) => void = () => {};
  /** Called when an edit or deletion was handed over and stored, or came too late. */
  onRevised: (revised: RevisedMessage) => void = () => {};

  constructor(kind: PlatformKind, time: VirtualTime, chance: RandomChance) {
    this.kind = kind;
    this.#time = time;
    this.#chance = chance;
    this.sending = new SendHandler(kind, time, chance, this.attempts);
  }

  /** How many updates the bot has not confirmed. */
  get unconfirmed(): number {
    return this.#updates.length;
  }

  /** Writes a message as a person. */
  write(message: PersonMessage, account = DEFAULT_ACCOUNT): string {
    this.#numbers += 1;
    const messageId = `u${this.#numbers}`;
    const { id: channel } = this.kind;
    const rest = { mentions: [], sentAt: this.#time.wallClock(), variables: {} };
    const update: PendingUpdate = {
      kind: 'message',
      account,
      message: { ...rest, ...message, channel, account, messageId },
    };
    this.#written.set(messageId, update);
    this.#updates.push(update);
    return messageId;
  }

  /** Edits a message as a person. */
  edit(messageId: string, text: string): void {
    const { account, message } = this.#find(messageId);
    this.#updates.push({ kind: 'edited', account, message: { ...message, text } });
  }

  /** Deletes a message as a person. */
  delete(messageId: string): void {
    const { account, message } = this.#find(messageId);
    this.#updates.push({ kind: 'deleted', account, message });
  }

  #find(messageId: string): PendingUpdate {
    const update = this.#written.get(messageId);
    if (update === undefined) throw new Error(`nobody wrote ${messageId}`);
    return update;
  }

  /** The channel, in the form in which a plugin provides it. */
  definition(): ChannelDefinition {
    return {
      id: this.kind.id,
      settings: z.strictObject({}),
      load: async () => (context) => this.#adapter(context),
    };
  }

  #adapter(context: ChannelContext<unknown>): ChannelAdapter {
    this.#lives += 1;
    const process = this.#time.process?.name ?? 'world';
    const life: AdapterLife = { number: this.#lives, account: context.account, process };
    let receiving: Promise<void> | null = null;
    const ending = new AbortController();
    const { sending, kind } = this;
    return {
      capabilities: getCapabilities(kind),
      start: async () => {
        receiving = this.#poll(context, life, ending.signal);
      },
      stop: async () => {
        ending.abort();
        await receiving;
      },
      send: (part, signal, onStart) => sending.send(part, life, signal, onStart),
      ...(kind.reportsStart && { reportsStart: true }),
      ...(kind.finds && {
        findSent: (part: OutboundPart, _before: unknown, signal: AbortSignal) =>
          sending.find(part, signal),
      }),
      ...(kind.changes && { messages: sending.messages(life) }),
      ...(kind.streams && { streaming: showGrowing(sending, this.attempts, context, life) }),
    };
  }

  async #poll(
    context: ChannelContext<unknown>,
    life: AdapterLife,
    ending: AbortSignal,
  ): Promise<void> {
    context.report({ kind: 'connected', as: `${this.kind.id}/${context.account}` });
    while (!ending.aborted) {
      await this.sending.wait(20, 200);
      if (ending.aborted) return;
      this.attempts.touch('poll', life, this.#time.now);
      for (const update of this.#batch(context.account)) {
        if (ending.aborted) return;
        try {
          await this.#hand(context, update);
        } catch (error) {
          // The update was not stored and therefore not confirmed, so it will be delivered again.
          context.log.warn({ reason: String(error) }, 'an update was not stored');
          break;
        }
        await this.sending.wait(1, 20);
        if (!this.updates.repeats()) this.#confirm(update);
      }
    }
  }

  async #hand(context: ChannelContext<unknown>, update: PendingUpdate): Promise<void> {
    const { kind, message } = update;
    if (kind === 'message') {
      this.onReceived(message, await context.receive(message));
      return;
    }
    const { messageId } = message;
    if (kind === 'edited') await context.revise({ kind, message });
    else await context.revise({ kind, chatId: message.chat.id, messageId });
    this.onRevised({ kind, message });
  }

  /** The pending updates of an account, in order within each chat. */
  #batch(account: string): readonly PendingUpdate[] {
    const own = this.#updates.filter((update) => update.account === account);
    if (!this.updates.reorders()) return own;
    const chats = [...new Set(own.map(({ message }) => message.chat.id))];
    const ranks = new Map(chats.map((chat) => [chat, this.#chance.next()]));
    const rank = ({ message }: PendingUpdate): number => ranks.get(message.chat.id) ?? 0;
    return own.toSorted((one, other) => rank(one) - rank(other));
  }

  #confirm(update: PendingUpdate): void {
    const at = this.#updates.indexOf(update);
    if (at >= 0) this.#updates.splice(at, 1);
  }
}
