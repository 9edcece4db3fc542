import { InboundMessage, type LiveEvent, silentMeter } from '@parley/core';
import { CAPABILITIES, createRecordingLogger } from '@parley/core/testing';
import { isBotMessage, type Store } from '@parley/store';
import { openMemoryStore } from '@parley/store/testing';
import type { IngressOutcome } from '../adapter.ts';
import { createIngress, type ReceiveMessage } from '../ingress/ingress.ts';
import type { IngressDeps } from '../ingress/ingress-deps.ts';
import { createReactionReceiver } from '../ingress/reactions.ts';
import type { AccountPolicy } from '../ingress/rules.ts';

/** The direct chat of the owner, `telegram:42`. */
export const OWNER_CHAT = { channel: 'telegram', account: 'default', chatId: '42' };

/** The policy of the scene's account unless a test changes it. */
export const POLICY: AccountPolicy = {
  access: {
    direct: 'allowlist',
    groups: 'open',
    allow: [],
    allowGroups: [],
    groupCommands: 'administrators',
  },
  activation: 'mention',
  answers: { mentions: 'dead', numbered: false },
};

/** A test scene with the ingress of one account on a real database, and a record of its actions. */
export class IngressScene {
  /** The current time in ms; tests advance it. */
  now = 1_000_000;
  /** Durable points, wake-ups, deliveries and live events, in order. */
  readonly happened: string[] = [];
  /** Live events, except those that only make pages refresh. */
  readonly events: LiveEvent[] = [];
  readonly lines: readonly string[];
  readonly #codes = ['AAAA2222', 'BBBB3333', 'CCCC4444', 'DDDD5555', 'EEEE6666'];
  readonly #deps: Omit<IngressDeps, 'store'>;
  #store: Store | undefined;
  #receive: ReceiveMessage = () => Promise.reject(new Error('Open the scene first.'));

  constructor() {
    const { log, lines } = createRecordingLogger();
    this.lines = lines;
    this.#deps = {
      lanes: { wake: async (key) => void this.happened.push(`wake ${key}`) },
      deliver: async ({ chatId }) => void this.happened.push(`deliver ${chatId}`),
      bus: {
        publish: (event) => {
          this.happened.push(event.type);
          if (event.type !== 'inbox-changed') this.events.push(event);
        },
        subscribe: () => () => {},
      },
      answersStrangers: true,
      newCode: () => this.#codes.shift() ?? 'ZZZZZZZZ',
      rules: {
        policy: POLICY,
        owners: ['telegram:42'],
        limits: { messageCharacters: 30, waitingPerConversation: 3, totalWaiting: 100 },
      },
      situation: () => ({
        agentName: 'Polly',
        model: 'offline – no model',
        models: ['provider/large', 'provider/small'],
      }),
      log,
      meter: silentMeter,
      clock: () => this.now,
      monotonic: () => this.now,
      checkpoint: (point) => void this.happened.push(point),
    };
  }

  /** Opens an empty in-memory database, replacing a closed one. */
  async open(): Promise<void> {
    this.#store = await openMemoryStore({ clock: () => this.now });
    this.#receive = this.ingressWith({});
  }

  get store(): Store {
    if (this.#store === undefined) throw new Error('Open the scene first.');
    return this.#store;
  }

  /** The ingress of an account with another policy. */
  ingressWith(
    policy: Partial<AccountPolicy>,
    change: Partial<IngressDeps> = {},
    rule: Partial<IngressDeps['rules']> = {},
  ): ReceiveMessage {
    return createIngress({ ...this.#depsWith(policy, rule), ...change });
  }

  reactedWith(policy: Partial<AccountPolicy> = {}): ReturnType<typeof createReactionReceiver> {
    return createReactionReceiver(this.#depsWith(policy));
  }

  #depsWith(policy: Partial<AccountPolicy>, rule: Partial<IngressDeps['rules']> = {}): IngressDeps {
    const rules = { ...this.#deps.rules, policy: { ...POLICY, ...policy }, ...rule };
    return { ...this.#deps, store: this.store, rules };
  }

  /** Lets the scene's account receive a message. */
  receive(message: InboundMessage): Promise<IngressOutcome> {
    return this.#receive(message, CAPABILITIES);
  }

  /** The text of each message that was stored for a chat. */
  async inbox(chat = OWNER_CHAT): Promise<readonly string[]> {
    return (await this.store.inbox.recent(chat, 100)).map((row) => row.message.text);
  }

  /** Parley's own notices that the next turn of a conversation receives. */
  async knownTo(conversationId: string): Promise<readonly string[]> {
    const work = { conversationId, owner: 'w', leaseMs: 10_000 };
    const turnId = `turn of ${conversationId}`;
    const started = await this.store.lanes.begin(work, 'collect', turnId, this.now);
    const known = started.kind === 'turn' ? started.turn.groupContext : [];
    return known.filter(isBotMessage).map(({ text }) => text);
  }

  /** The notices that a chat received, without markup. */
  async told(chatId = OWNER_CHAT.chatId): Promise<readonly string[]> {
    const rows = await this.store.outbox.recent({ ...OWNER_CHAT, chatId }, 100);
    return rows.map(({ part }) => part.body.plain);
  }
}

/** A plain direct message for tests; `overrides` replaces single fields. */
export function createMessage(
  change: Partial<Omit<InboundMessage, 'chat' | 'sender'>> & {
    chat?: Partial<InboundMessage['chat']>;
    sender?: Partial<InboundMessage['sender']>;
  } = {},
): InboundMessage {
  return InboundMessage.parse({
    channel: 'telegram',
    account: 'default',
    messageId: '1',
    text: 'hello',
    addressed: false,
    sentAt: 1_000,
    ...change,
    chat: { id: '42', type: 'direct', ...change.chat },
    sender: { id: '42', name: 'Ada', isBot: false, ...change.sender },
  });
}
