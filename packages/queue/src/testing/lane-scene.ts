import { type LiveBus, type NewId, silentLogger, systemTime } from '@parley/core';
import type { AdmittedMessage, ClaimedTurn, Store } from '@parley/store';
import { openMemoryStore } from '@parley/store/testing';
import type { LaneDeps, RunTurn } from '../lane.ts';
import { createLocalBus } from '../local-bus.ts';
import { openTurnQueue, type WakeUpQueue } from '../wake-up-queue.ts';

/**
 * A test scene with a real database, a real queue, and functions that write messages as people
 * would.
 */
export interface LaneScene {
  readonly store: Store;
  readonly turns: WakeUpQueue;
  readonly bus: LiveBus;
  /** Stores a message in a chat without a wake-up and returns its id. */
  write(chatId: string, more?: { readonly settlesAt?: number }): Promise<string>;
  /** Stores a /stop and signals the running turn, as ingress does. */
  stop(chatId: string): Promise<void>;
  /**
   * Takes the lease away from its holder and releases it immediately, so that the holder loses it.
   */
  loseLease(chatId: string): Promise<void>;
  /**
   * Lists the outcome of each message in a chat, in the order written; null for a waiting message.
   */
  outcomes(chatId: string): Promise<readonly (string | null)[]>;
  /** Creates the dependencies of a lane whose turns are run by `runTurn`. */
  laneDeps(runTurn: RunTurn, change?: Partial<LaneDeps>): LaneDeps;
  /** Commits the turn as answered; false when the lease was lost. */
  answer(turn: ClaimedTurn, lease: Parameters<RunTurn>[1]): Promise<boolean>;
  /** Like `answer`, but also releases the lane if no message waits, as a worker does. */
  answerAndLeave(
    turn: ClaimedTurn,
    lease: Parameters<RunTurn>[1],
  ): ReturnType<Store['lanes']['commit']>;
  close(): Promise<void>;
}

const TARGET = { dialect: 'plain', maxLength: 1_000, unit: 'utf16' } as const;

/** Opens an independent scene. */
export async function openLaneScene(): Promise<LaneScene> {
  const store = await openMemoryStore({ clock: Date.now });
  const turns = await openTurnQueue({ url: 'memory:', log: silentLogger });
  const bus = createLocalBus(silentLogger);
  let made = 0;
  const newId: NewId = (prefix) => {
    made += 1;
    return `${prefix}_${made}`;
  };
  return {
    store,
    turns,
    bus,
    async write(chatId, more = {}) {
      const id = newId('message');
      await store.inbox.accept({ ...createAdmittedMessage(chatId, id), ...more });
      return id;
    },
    async stop(chatId) {
      await store.inbox.command(createAdmittedMessage(chatId, newId('stop')), (command) =>
        command.stop(),
      );
      bus.publish({ type: 'stop-turn', conversationId: chatId });
    },
    async loseLease(chatId) {
      // The first request expires the holder's lease immediately, and the second request acquires
      // it.
      for (const leaseMs of [0, 1]) {
        const thief = { conversationId: chatId, owner: 'thief', leaseMs };
        const taken = await store.lanes.begin(thief, 'collect', newId('stolen'), Date.now());
        if (taken.kind === 'turn') await store.lanes.release(taken.lease, taken.turn.turnId);
      }
    },
    async outcomes(chatId) {
      const rows = await store.inbox.recent({ channel: 'web', account: 'default', chatId }, 1_000);
      const messages = rows.filter(({ message }) => message.messageId.startsWith('message'));
      return messages.map(({ outcome }) => outcome);
    },
    laneDeps: (runTurn, change = {}) => ({
      lanes: store.lanes,
      runTurn,
      busy: 'collect',
      collectPauseMs: 5,
      owner: 'worker',
      clock: Date.now,
      monotonic: systemTime.monotonic,
      newId,
      log: silentLogger,
      ...change,
    }),
    async answer({ turnId }, lease) {
      const commit = { turnId, outcome: 'answered', entries: [], parts: [], usage: null } as const;
      return (await store.lanes.commit(lease, commit, Date.now())) === 'committed';
    },
    async answerAndLeave({ turnId }, lease) {
      const commit = { turnId, outcome: 'answered', entries: [], parts: [], usage: null } as const;
      const result = await store.lanes.commit(lease, { ...commit, leaves: true }, Date.now());
      if (result === 'left') lease.onLeft?.();
      return result;
    },
    async close() {
      await turns.close();
      await store.close();
    },
  };
}

/** The conversation is named after its chat. */
function createAdmittedMessage(chatId: string, messageId: string): AdmittedMessage {
  const place = { channel: 'web', account: 'default' } as const;
  return {
    conversationId: chatId,
    route: { ...place, chatId, target: TARGET },
    receivedAt: Date.now(),
    message: {
      ...place,
      messageId,
      chat: { id: chatId, type: 'direct' },
      sender: { id: 'u', name: 'Ada', isBot: false },
      text: messageId,
      mentions: [],
      addressed: true,
      sentAt: 0,
      variables: {},
    },
  };
}

export function listMessageIds(turn: ClaimedTurn): readonly string[] {
  return turn.messages.map(({ message }) => message.messageId);
}
