import { discord } from '@parley/channel-discord';
import type { ChannelAdapter, ChannelEnv } from '@parley/channels';
import type { InboundMessage, OutboundPart, Receipt } from '@parley/core';
import {
  type DiscordDouble,
  type DiscordDoubleOptions,
  startDiscordDouble,
} from '@parley/simulators/discord';
import { type CoreOverrides, createCore, type ReportedEvents } from '../adapter-core.ts';

/** A person in the double. */
export const ANN = '200000000000000501';

const cleanUp: (() => Promise<void>)[] = [];

/** The adapter, its double, and everything that the adapter reports to the core. */
export interface DiscordScene extends ReportedEvents {
  readonly double: DiscordDouble;
  readonly adapter: ChannelAdapter;
  readonly waits: number[];
  /** Starts the adapter and waits until it is connected. */
  connect(): Promise<void>;
  /** Sends a part as the answer to the received message with this id. */
  answers(id: string, text: string, more?: Partial<Omit<OutboundPart, 'route'>>): Promise<Receipt>;
  /** Waits until this many messages have arrived, and returns the last message. */
  hears(count: number): Promise<InboundMessage>;
}

/** Differences from the default scene. */
export interface DiscordSceneOptions extends CoreOverrides {
  readonly settings?: object;
  readonly double?: DiscordDoubleOptions;
  /** An existing double, for a second start. */
  readonly on?: DiscordDouble;
  readonly wait?: ChannelEnv['wait'];
  /** Data received by an earlier start. */
  readonly heard?: readonly InboundMessage[];
}

/** Starts a double and creates an adapter for it that does not wait between its attempts. */
export async function startDiscordScene(wishes: DiscordSceneOptions = {}): Promise<DiscordScene> {
  const double = wishes.on ?? (await startDouble(wishes.double));
  const waits: number[] = [];
  const env: ChannelEnv = {
    random: () => 0,
    wait:
      wishes.wait ??
      (async (ms, signal) => {
        waits.push(ms);
        await waitBriefly(signal);
      }),
  };
  const connect = await discord.load();
  const settings = { token: double.token, apiRoot: double.apiRoot, ...wishes.settings };
  const changed = () => double.transcript.changes.changed();
  const { told, context } = createCore(settings, changed, wishes);
  const { received, states } = told;
  const adapter = connect(context, env);
  cleanUp.push(() => adapter.stop());
  return {
    ...{ ...told, double, adapter, waits },
    async connect() {
      await adapter.start();
      await double.waitFor(() => states.at(-1)?.kind === 'connected');
    },
    answers(id, text, more = {}) {
      const all = [...(wishes.heard ?? []), ...received];
      const asked = all.find(({ messageId }) => messageId === id);
      if (asked === undefined) throw new Error(`${id} was not heard`);
      const { chat, response } = asked;
      const place = { ...(chat.threadId && { threadId: chat.threadId }), replyTo: id };
      const plain = createPart(chat.id, text, { ...more, ...place });
      const route = { ...plain.route, ...(response && { response }) };
      return adapter.send({ ...plain, route }, new AbortController().signal);
    },
    async hears(count) {
      const last = await double.waitFor(() => received.length >= count && received[count - 1]);
      return last;
    },
  };
}

/** Long enough that a call to the local double finishes first. */
function waitBriefly(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, 50);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

async function startDouble(options: DiscordDoubleOptions = {}): Promise<DiscordDouble> {
  const double = await startDiscordDouble(options);
  cleanUp.unshift(() => double.close());
  return double;
}

/** Closes everything that `scene` started: adapters first, then doubles. */
export async function endScenes(): Promise<void> {
  for (const close of cleanUp.splice(0).reverse()) await close();
}

/** A part for a channel, a thread or a direct chat. */
export function createPart(
  chatId: string,
  text: string,
  more: Partial<Omit<OutboundPart, 'route'>> & {
    readonly threadId?: string;
    readonly replyTo?: string;
    readonly mentions?: 'live';
  } = {},
): OutboundPart {
  const { threadId, replyTo, mentions, ...fields } = more;
  return {
    id: 'part_1',
    idempotencyKey: 'key-of-part-1',
    turnId: 'turn_1',
    index: 0,
    body: { text, plain: text },
    ...fields,
    route: {
      channel: 'discord',
      account: 'default',
      chatId,
      ...(threadId === undefined ? {} : { threadId }),
      ...(replyTo === undefined ? {} : { replyToMessageId: replyTo }),
      target: {
        dialect: 'discord',
        maxLength: 2000,
        unit: 'utf16',
        ...(mentions === undefined ? {} : { mentions }),
      },
    },
  };
}
