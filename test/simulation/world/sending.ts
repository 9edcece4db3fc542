import type { ChatAddress, MessageCapability } from '@parley/channels';
import {
  ChannelError,
  type ChannelFailure,
  type OutboundPart,
  type Receipt,
  type RenderedPart,
} from '@parley/core';
import type { RandomChance } from '../engine/chance.ts';
import type { VirtualTime } from '../engine/virtual-time.ts';
import type { AdapterLife, PlatformAttempts, SendAttempt } from './attempts.ts';
import { TokenBuckets } from './buckets.ts';
import type { PlatformKind } from './platform-kind.ts';

/** A message from the bot as people see it in a chat on the platform. */
export interface DisplayedMessage {
  readonly id: string;
  readonly account: string;
  readonly chat: string;
  readonly text: string;
  readonly key: string;
  readonly part: string;
  readonly at: number;
  /** The text after an edit by the bot; undefined when there was none. */
  edited?: string;
  /** Whether the bot has deleted the message. */
  isDeleted: boolean;
}

/** The outcome of one request from the bot. */
export type SendFate =
  | { readonly kind: 'sent' }
  | {
      readonly kind: 'rate-limited';
      readonly retryAfterMs: number;
      readonly scope: 'chat' | 'account';
    }
  | {
      readonly kind: 'refused';
      readonly failure: 'forbidden' | 'gone' | 'refused-format' | 'refused';
    }
  /**
   * The connection breaks before or after the platform has accepted the request, or no response
   * arrives.
   */
  | { readonly kind: 'reset-before' | 'reset-after' | 'swallowed' | 'swallowed-after' };

/** How long a request to a slow chat takes, in ms. */
export const SLOW_MS = [5_000, 9_000] as const;

/** The part of a platform that accepts messages from the bot. */
export class SendHandler {
  readonly #kind: PlatformKind;
  readonly #time: VirtualTime;
  readonly #chance: RandomChance;
  readonly #attempts: PlatformAttempts;
  readonly #shown: DisplayedMessage[] = [];
  readonly #keys = new Map<string, DisplayedMessage>();
  readonly #limits = new TokenBuckets();
  /** The bot's reactions, by message. */
  readonly reactions = new Map<string, string>();
  /**
   * The first result of `findSent` that a process received for each part: the message, and when.
   */
  readonly found = new Map<string, { readonly id: string; readonly at: number }>();
  /** The time when a process learned that a chat is closed to the bot, by turn and chat. */
  readonly closed = new Map<string, number>();
  /**
   * The periods in which the platform did not allow requests, by process run, or by process run and
   * chat. In ms of the simulation.
   */
  readonly silences = new Map<string, { readonly from: number; readonly until: number }>();
  /** How often the platform had to reject the bot for exceeding a rate. */
  refusedTooFast = 0;

  /** Decides the outcome of each request; by default all are accepted. */
  fate: (part: OutboundPart | null) => SendFate = () => ({ kind: 'sent' });
  /** Called with each message at the moment people see it. */
  onShown: (shown: DisplayedMessage) => void = () => {};

  constructor(
    kind: PlatformKind,
    time: VirtualTime,
    chance: RandomChance,
    attempts: PlatformAttempts,
  ) {
    this.#kind = kind;
    this.#time = time;
    this.#chance = chance;
    this.#attempts = attempts;
  }

  /** All bot messages that people ever saw, in order of appearance. */
  get shown(): readonly DisplayedMessage[] {
    return this.#shown;
  }

  async send(
    part: OutboundPart,
    life: AdapterLife,
    signal: AbortSignal,
    onStart: (() => void) | undefined,
  ): Promise<Receipt> {
    const attempt = this.#attempts.begin(part, life, this.#time.now);
    if (this.#kind.reportsStart) {
      await this.wait(1, 20);
      if (signal.aborted) throw this.#heard(attempt, { kind: 'transient' });
      onStart?.();
    }
    const fate = this.fate(part);
    const answer = this.#request(part, signal, () => this.#take(attempt, fate));
    try {
      const id = await answer;
      attempt.heard = 'receipt';
      return { platformMessageId: id };
    } catch (thrown) {
      throw this.#heard(attempt, toFailure(thrown));
    }
  }

  #heard(attempt: SendAttempt, failure: ChannelFailure): ChannelError {
    attempt.heard = failure.kind;
    const { part, life } = attempt;
    const { chatId } = part.route;
    const { now } = this.#time;
    if (failure.kind === 'forbidden' || failure.kind === 'gone')
      this.closed.set(`${part.turnId} ${chatId}`, now);
    if (failure.kind === 'rate-limited') {
      const name = failure.scope === 'account' ? `${life.number}` : `${life.number} ${chatId}`;
      const until = Math.max(now + failure.retryAfterMs, this.silences.get(name)?.until ?? 0);
      this.silences.set(name, { from: now, until });
    }
    return new ChannelError(failure, `the simulated platform: ${failure.kind}`);
  }

  /**
   * A request that has left its process arrives even if the process is killed; only a live process
   * receives the response. `signal` only ends the waiting.
   */
  #request<T>(part: OutboundPart, signal: AbortSignal, arrive: () => T | Promise<T>): Promise<T> {
    const { slowChats = [] } = this.#kind;
    const [from, to] = slowChats.includes(part.route.chatId) ? SLOW_MS : [5, 300];
    const { process } = this.#time;
    return new Promise<T>((resolve, reject) => {
      const abort = (): void => reject(new ChannelError({ kind: 'unknown-outcome' }, 'no answer'));
      if (signal.aborted) return abort();
      signal.addEventListener('abort', abort, { once: true });
      const answer = (work: () => void): void => {
        this.#time.as(process, () => void this.#time.plan(this.#chance.between(1, 20), work));
      };
      this.#time.as(undefined, () => {
        this.#time.plan(this.#chance.between(from, to), () => {
          Promise.resolve()
            .then(arrive)
            .then(
              (value) => answer(() => resolve(value)),
              (error) => answer(() => reject(error)),
            );
        });
      });
    });
  }

  /** The platform accepts a part or refuses it. */
  #take(attempt: SendAttempt, fate: SendFate): string | Promise<never> {
    const { part, life } = attempt;
    if (fate.kind === 'reset-before') throw new ChannelError({ kind: 'unknown-outcome' }, 'reset');
    if (fate.kind === 'swallowed') return new Promise(() => {});
    if (fate.kind === 'refused') throw new ChannelError({ kind: fate.failure }, fate.failure);
    if (fate.kind === 'rate-limited') {
      const { retryAfterMs, scope } = fate;
      throw new ChannelError({ kind: 'rate-limited', retryAfterMs, scope }, 'too many requests');
    }
    this.#enforce(life.account, part.route.chatId);
    attempt.takenAt = this.#time.now;
    const id = this.#show(part, life);
    if (fate.kind === 'reset-after') throw new ChannelError({ kind: 'unknown-outcome' }, 'reset');
    if (fate.kind === 'swallowed-after') return new Promise(() => {});
    return id;
  }

  /** The limits of the platform, independent of its faults. */
  #enforce(account: string, chat: string): void {
    const { enforced } = this.#kind;
    const limits = [
      { scope: 'account', rate: enforced?.account, name: account },
      { scope: 'chat', rate: enforced?.chat, name: `${account} ${chat}` },
    ] as const;
    for (const { scope, rate, name } of limits) {
      if (rate === undefined) continue;
      const wait = this.#limits.take(name, rate, this.#time.now);
      if (wait === 0) continue;
      this.refusedTooFast += 1;
      const failure = { kind: 'rate-limited', retryAfterMs: Math.ceil(wait), scope } as const;
      throw new ChannelError(failure, 'too many requests');
    }
  }

  #show(part: OutboundPart, { account }: AdapterLife): string {
    const { idempotencyKey: key, route, body } = part;
    const known = this.#known(key);
    if (known !== undefined) return known.id;
    const shown: DisplayedMessage = {
      id: `b${this.#shown.length + 1}`,
      account,
      chat: route.chatId,
      text: body.plain,
      key,
      part: part.id,
      at: this.#time.now,
      isDeleted: false,
    };
    this.#keys.set(key, shown);
    this.#shown.push(shown);
    this.onShown(shown);
    return shown.id;
  }

  /** The message with a key that the platform still remembers. */
  #known(key: string): DisplayedMessage | undefined {
    const { hasKeys, keysForMs = Number.POSITIVE_INFINITY } = this.#kind;
    const shown = hasKeys ? this.#keys.get(key) : undefined;
    return shown && this.#time.now - shown.at <= keysForMs ? shown : undefined;
  }

  /** Looks for a part on the platform, as an adapter's `findSent` does. */
  async find(part: OutboundPart, signal: AbortSignal): Promise<string | undefined> {
    const fate = this.fate(null);
    const found = await this.#request<string | undefined>(part, signal, () => {
      if (fate.kind === 'sent')
        return this.#shown.find(({ key }) => key === part.idempotencyKey)?.id;
      if (fate.kind === 'swallowed' || fate.kind === 'swallowed-after')
        return new Promise(() => {});
      throw new ChannelError({ kind: 'transient' }, 'it cannot be looked for now');
    });
    if (found !== undefined && !this.found.has(part.id))
      this.found.set(part.id, { id: found, at: this.#time.now });
    return found;
  }

  /** The bot's edits, deletions and reactions. Only the connection can fail. */
  messages(life: AdapterLife): MessageCapability {
    const change = async ({ chatId }: ChatAddress, work: () => void): Promise<void> => {
      this.#attempts.touch('send', life, this.#time.now);
      await this.wait(5, 300);
      const fate = this.fate(null);
      if (fate.kind !== 'sent' && fate.kind !== 'reset-after')
        throw new ChannelError({ kind: 'transient' }, `chat ${chatId}: the connection broke`);
      work();
      if (fate.kind === 'reset-after')
        throw new ChannelError({ kind: 'unknown-outcome' }, `chat ${chatId}: no answer`);
    };
    const own = (id: string): DisplayedMessage => {
      const shown = this.#shown.find((one) => one.id === id);
      if (shown === undefined) throw new ChannelError({ kind: 'refused' }, `no message ${id}`);
      return shown;
    };
    return {
      edit: (address, id, body: RenderedPart) =>
        change(address, () => {
          own(id).edited = body.plain;
        }),
      delete: (address, id) =>
        change(address, () => {
          own(id).isDeleted = true;
        }),
      react: (address, id, emoji) =>
        change(address, () => {
          if (emoji === undefined) this.reactions.delete(id);
          else this.reactions.set(id, emoji);
        }),
    };
  }

  get time(): VirtualTime {
    return this.#time;
  }

  /** Waits in the calling process, so a killed process does not continue. */
  wait(from: number, to: number): Promise<void> {
    return new Promise((resolve) => {
      this.#time.plan(this.#chance.between(from, to), resolve);
    });
  }
}

function toFailure(thrown: unknown): ChannelFailure {
  return thrown instanceof ChannelError ? thrown.failure : { kind: 'unknown-outcome' };
}
