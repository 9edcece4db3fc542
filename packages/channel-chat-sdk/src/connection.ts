import { once } from 'node:events';
import {
  type ChannelContext,
  type ChannelEnv,
  computeReconnectBackoff,
  RECONNECT,
  reportAndWait,
} from '@parley/channels';
import { reasonOf } from '@parley/core';
import type { Adapter, ChatInstance } from 'chat';
import type { AdapterExtensions } from './beside.ts';
import { toCallFailure, withAbortSignal } from './failures.ts';
import type { SlackSocket } from './slack-socket.ts';
import type { BotNames } from './to-inbound.ts';
import type { Webhook } from './webhook.ts';

interface ConnectionDeps extends ChannelEnv, Pick<ChannelContext<unknown>, 'report' | 'clock'> {
  readonly adapter: Adapter;
  readonly host: ChatInstance;
  readonly webhook: Webhook;
  readonly platform: string;
  readonly identify: AdapterExtensions['identify'];
  /** Present if events arrive over a socket. */
  readonly socket: SlackSocket | undefined;
}

/** The time limit (ms) for initializing an adapter. */
const INITIALIZE_WITHIN_MS = 30_000;
/**
 * Adapters that recognize the bot's own messages by an id which they request from the platform.
 * Without that id, the bot would answer itself (F07).
 */
const NEEDS_ID: ReadonlySet<string> = new Set(['slack', 'github', 'linear']);

/** Initializes an adapter, keeps its connection open, and reports the connection's status. */
export class Connection {
  readonly #deps: ConnectionDeps;
  readonly #ready = Promise.withResolvers<void>();
  #bot: BotNames | undefined;
  #isRefused = false;

  constructor(deps: ConnectionDeps) {
    this.#deps = deps;
  }

  get bot(): BotNames {
    const { userName, botUserId: userId } = this.#deps.adapter;
    return this.#bot ?? { userName, userId };
  }

  /**
   * Whether the adapter is initialized; until then, it cannot send messages or recognize its own
   * messages.
   */
  get isReady(): boolean {
    return this.#bot !== undefined;
  }

  /** Resolves once the adapter is initialized; rejects if the signal is aborted before that. */
  ready(signal: AbortSignal): Promise<void> {
    return withAbortSignal(this.#ready.promise, signal);
  }

  /** Connects, and reconnects after each failure, until the signal is aborted. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    let failures = 0;
    let going = true;
    while (going && !signal.aborted) {
      try {
        await this.#serve(signal, () => {
          failures = 0;
        });
      } catch (thrown) {
        if (!signal.aborted) going = await this.#recover(thrown, failures, signal);
        failures += 1;
      }
    }
  }

  /**
   * Records whether the platform accepted the account when a message was sent. A refused account is
   * reported as failed, and its answers stay in the outbox.
   */
  accountIs(state: 'refused' | 'accepted', reason: string): void {
    if (this.#isRefused === (state === 'refused')) return;
    this.#isRefused = state === 'refused';
    if (this.#isRefused) this.#deps.report({ kind: 'failed', reason, fix: this.#fix() });
    else this.#connected();
  }

  async #serve(signal: AbortSignal, opened: () => void): Promise<void> {
    const { adapter, webhook, socket } = this.#deps;
    this.#bot ??= await this.#initialize(adapter, signal);
    this.#ready.resolve();
    webhook.start();
    const connected = (): void => {
      opened();
      this.#connected();
    };
    if (socket === undefined) {
      connected();
      if (!signal.aborted) await once(signal, 'abort');
      return;
    }
    await socket.hold(connected, signal);
    if (!signal.aborted) throw new Error('the connection ended');
  }

  async #initialize(adapter: Adapter, signal: AbortSignal): Promise<BotNames> {
    const { host, platform, identify } = this.#deps;
    const limit = AbortSignal.any([signal, AbortSignal.timeout(INITIALIZE_WITHIN_MS)]);
    const identity = identify && (await withAbortSignal(identify(), limit));
    await withAbortSignal(adapter.initialize(host), limit);
    const { userName, botUserId } = adapter;
    const userId = botUserId === undefined || botUserId === '' ? undefined : botUserId;
    if (userId === undefined && NEEDS_ID.has(adapter.name)) {
      throw new Error(`${platform} did not return the bot's user; see the log`);
    }
    return { userName, userId, ...identity };
  }

  async #recover(thrown: unknown, failures: number, signal: AbortSignal): Promise<boolean> {
    const { random } = this.#deps;
    const { isAccount } = toCallFailure(thrown);
    const reason = reasonOf(thrown);
    if (isAccount) {
      return reportAndWait({ kind: 'give-up', reason, fix: this.#fix() }, this.#deps, signal);
    }
    // A connection that was already open is reopened immediately, because Slack closes every
    // connection after a few hours.
    const afterMs = failures === 0 ? 0 : computeReconnectBackoff(failures - 1, random());
    return reportAndWait({ kind: 'retry', afterMs, reason }, this.#deps, signal);
  }

  #connected(): void {
    const { userName } = this.bot;
    this.#deps.report({ kind: 'connected', as: `@${userName}` });
  }

  #fix(): string {
    return `Check the credentials under this channel's "options", then ${RECONNECT}`;
  }
}
