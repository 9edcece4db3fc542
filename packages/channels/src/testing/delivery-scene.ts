import {
  ChannelError,
  type ChannelFailure,
  type CommittedParts,
  type OutboundPart,
  type Receipt,
} from '@parley/core';
import { CAPABILITIES } from '@parley/core/testing';
import type { Store } from '@parley/store';
import { openMemoryStore } from '@parley/store/testing';

/** The platform's response to one send in a test. */
export type PlatformResponse = ChannelFailure | { readonly kind: 'sent' };

/** A test scene with an outbox in memory and a platform controlled by the test. */
export interface DeliveryScene {
  readonly store: Store;
  /** Chat id and text of each send, in order. */
  readonly sends: string[];
  /** The messages that people can see, by chat. */
  readonly visible: Map<string, string[]>;
  /** Sets the responses to the next sends to a chat, one each; later sends succeed. */
  answer(chatId: string, ...answers: readonly PlatformResponse[]): void;
  send(part: OutboundPart, signal: AbortSignal): Promise<Receipt>;
  /**
   * Adds the parts of one turn to the outbox, due at `at`. Returns the parts that the turn's commit
   * passes on.
   */
  owe(chatId: string, texts: readonly string[], at?: number): Promise<CommittedParts | undefined>;
  /** The state of each part of a chat, in order. */
  states(chatId: string): Promise<readonly string[]>;
}

/** Opens a scene with an empty database. */
export async function openDeliveryScene(clock: () => number): Promise<DeliveryScene> {
  const store = await openMemoryStore({ clock });
  const sends: string[] = [];
  const visible = new Map<string, string[]>();
  const answers = new Map<string, PlatformResponse[]>();
  const known = new Set<string>();
  let turns = 0;
  return {
    store,
    sends,
    visible,
    answer: (chatId, ...more) =>
      void answers.set(chatId, [...(answers.get(chatId) ?? []), ...more]),
    async send({ route, body, idempotencyKey }) {
      const { chatId } = route;
      sends.push(`${chatId}: ${body.text}`);
      const answer = answers.get(chatId)?.shift() ?? { kind: 'sent' };
      if (answer.kind !== 'sent')
        throw new ChannelError(answer, `the platform says ${answer.kind}`);
      if (!known.has(idempotencyKey))
        visible.set(chatId, [...(visible.get(chatId) ?? []), body.text]);
      known.add(idempotencyKey);
      return { platformMessageId: `m${sends.length}` };
    },
    async owe(chatId, texts, at = 0) {
      turns += 1;
      return commitTurn(store, { turnId: `turn-${turns}`, chatId, texts, at });
    },
    async states(chatId) {
      const rows = await store.outbox.recent({ channel: 'test', account: 'default', chatId }, 100);
      return rows.map(({ state }) => state);
    },
  };
}

interface TurnSpec {
  readonly turnId: string;
  readonly chatId: string;
  readonly texts: readonly string[];
  readonly at: number;
}

/** As in production, parts enter the outbox by committing a turn. */
async function commitTurn(
  store: Store,
  { turnId, chatId, texts, at }: TurnSpec,
): Promise<CommittedParts | undefined> {
  const place = { channel: 'test', account: 'default' } as const;
  const route = { ...place, chatId, target: CAPABILITIES.target };
  const message = {
    ...place,
    messageId: turnId,
    chat: { id: chatId, type: 'direct' as const },
    sender: { id: 'u', name: 'Ada', isBot: false },
    text: 'question',
    mentions: [],
    addressed: true,
    sentAt: 0,
    variables: {},
  };
  await store.inbox.accept({ conversationId: chatId, message, route, receivedAt: at });
  const work = { conversationId: chatId, owner: turnId, leaseMs: 1_000 };
  const taken = await store.lanes.begin(work, 'collect', turnId, at);
  if (taken.kind !== 'turn') throw new Error(`no turn: ${taken.kind}`);
  const parts = texts.map((text) => ({ route, body: { text, plain: text } }));
  const commit = { turnId, outcome: 'answered', entries: [], parts, usage: null } as const;
  let fresh: CommittedParts | undefined;
  await store.lanes.commit(taken.lease, commit, at, (stored) => {
    fresh = stored;
  });
  await store.lanes.release(taken.lease);
  return fresh;
}
