import { setTimeout as delay } from 'node:timers/promises';
import { type TelegramAmbience, telegram } from '@parley/channel-telegram';
import type {
  ChannelAdapter,
  ChannelState,
  CommandInfo,
  IngressOutcome,
  Revision,
} from '@parley/channels';
import { type AdapterValues, type InboundMessage, memoryValues } from '@parley/contracts';
import { loggerInto } from '../logger-into.ts';
import {
  startTelegramDouble,
  type TelegramDouble,
  type TelegramDoubleOptions,
} from './telegram-double.ts';

/** What ingress says to a message it has stored. */
export const accepted: IngressOutcome = { kind: 'accepted', conversationId: 'c' };

/** Between attempts nothing waits longer, in ms. */
const LONGEST_PAUSE_MS = 60_000;

const cleanUp: (() => Promise<void>)[] = [];

/** The adapter and the double it talks to, and all that the adapter told the core. */
export interface Scene {
  readonly double: TelegramDouble;
  readonly adapter: ChannelAdapter;
  readonly received: InboundMessage[];
  readonly revised: Revision[];
  readonly states: ChannelState[];
  readonly waits: number[];
  readonly logged: string[];
}

/** What is not as usual. */
export interface Wishes {
  readonly receive?: (message: InboundMessage) => Promise<IngressOutcome>;
  readonly revise?: (revision: Revision) => Promise<void>;
  readonly clock?: () => number;
  /** What ends a wait that is longer than any pause between attempts; absent, only a stop does. */
  readonly watch?: () => Promise<void>;
  readonly commands?: readonly CommandInfo[];
  /** What an earlier start has left. */
  readonly values?: AdapterValues;
  readonly settings?: (double: TelegramDouble) => object;
  readonly double?: TelegramDoubleOptions;
}

/** Starts a double and makes an adapter for it that does not wait between its attempts. */
export async function scene(wishes: Wishes = {}): Promise<Scene> {
  const double = await startTelegramDouble(wishes.double);
  const received: InboundMessage[] = [];
  const states: ChannelState[] = [];
  const waits: number[] = [];
  const logged: string[] = [];
  const revised: Revision[] = [];
  const values = wishes.values ?? memoryValues();
  const ambience: TelegramAmbience = {
    random: () => 0,
    wait: async (ms, signal) => {
      waits.push(ms);
      const stopped = new Promise<void>((resolve) =>
        signal.addEventListener('abort', () => resolve()),
      );
      const over = ms > LONGEST_PAUSE_MS ? wishes.watch?.() : delay(1);
      await Promise.race([stopped, over ?? stopped]);
    },
  };
  const connect = await telegram.load();
  const context = {
    account: 'default',
    settings: { token: double.token, apiRoot: double.apiRoot, ...wishes.settings?.(double) },
    log: loggerInto(logged, { changed: () => double.transcript.changes.changed() }),
    clock: wishes.clock ?? Date.now,
    revise: async (revision: Revision) => {
      revised.push(revision);
      double.transcript.changes.changed();
      await wishes.revise?.(revision);
    },
    commands: wishes.commands ?? [],
    values,
    receive: async (message: InboundMessage) => {
      received.push(message);
      double.transcript.changes.changed();
      return wishes.receive ? wishes.receive(message) : accepted;
    },
    report: (state: ChannelState) => {
      states.push(state);
      double.transcript.changes.changed();
    },
    history: async () => [],
  };
  const adapter = connect(context, ambience);
  cleanUp.push(async () => {
    await adapter.stop();
    await double.close();
  });
  return { double, adapter, received, revised, states, waits, logged };
}

/** Ends all that `scene` began. */
export async function endScenes(): Promise<void> {
  await Promise.all(cleanUp.splice(0).map((close) => close()));
}
