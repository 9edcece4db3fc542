import type { ChannelAdapter, ChannelContext, MessageFacet } from '@parley/channels';
import { type Capabilities, reasonOf } from '@parley/contracts';
import { type DiscordAmbience, realAmbience } from './ambience.ts';
import { callFailureOf } from './call-failure.ts';
import { Connection } from './connection.ts';
import { connectDiscordApi, type DiscordApi } from './discord-api.ts';
import { createFiles } from './files.ts';
import { Intake } from './intake.ts';
import { takeInteraction } from './interactions.ts';
import { knownChannels } from './known-channels.ts';
import { registerMenu } from './menu.ts';
import { contentBody, MAX_TEXT } from './message-body.ts';
import { createPlaces } from './places.ts';
import { Seen } from './seen.ts';
import { sendErrorOf } from './send-failure.ts';
import { sendPart } from './send-part.ts';
import type { DiscordSettings } from './settings.ts';
import { Streams } from './streams.ts';

const CAPABILITIES: Capabilities = {
  // Which characters Discord counts it does not say; UTF-16 units are never fewer, so they are safe.
  target: { dialect: 'discord', maxLength: MAX_TEXT, unit: 'utf16' },
  // Within the few minutes that Discord remembers a nonce.
  idempotentSend: true,
  typing: true,
  edit: true,
  delete: true,
  react: true,
  threads: true,
  buttons: true,
  streaming: 'replace',
  media: ['image', 'audio', 'voice', 'video', 'document'],
  // No rates: discord.js counts the buckets that Discord names with each answer.
};

/** Discord shows "typing" for 10 s. */
const TYPING_REPEAT_MS = 8_000;
/** Five edits in five seconds are allowed in a channel; one a second leaves some for others. In ms. */
const EDIT_EVERY_MS = 1_200;
/** How far a channel has come is written this much later, in ms. */
const WRITE_SEEN_MS = 5_000;
/** Parts of one answer follow each other faster than this, unless limits are in the way. In ms. */
const TIDY_MS = 60_000;

/** One Discord bot. Nothing goes over the network before `start`. */
export function createDiscordAdapter(
  context: ChannelContext<DiscordSettings>,
  ambience: DiscordAmbience = realAmbience,
): ChannelAdapter {
  const { clock, log, report, settings, values } = context;
  const { linkPreviews } = settings;
  const api = connectDiscordApi(settings);
  const streams = new Streams({ api, values, linkPreviews, log, later: laterBy(TIDY_MS) });
  const receiving = createReceiving(context, ambience, api);
  return {
    capabilities: CAPABILITIES,
    async start() {
      report({ kind: 'starting' });
      receiving.start();
    },
    async stop() {
      await receiving.stop();
      streams.close();
      api.close();
      report({ kind: 'stopped' });
    },
    send: (part, signal) => sendPart({ api, streams, linkPreviews, log }, part, signal),
    typing: {
      repeatMs: TYPING_REPEAT_MS,
      show: ({ chatId, threadId = chatId }) => translated(threadId, () => api.showTyping(threadId)),
    },
    streaming: {
      minIntervalMs: EDIT_EVERY_MS,
      update: (address, turnId, answer) =>
        translated(address.threadId ?? address.chatId, () =>
          streams.update(address, turnId, answer),
        ),
      // The parts of the finished answer take the places of what is shown.
      end: async () => {},
    },
    files: createFiles({ api, apiRoot: settings.apiRoot, clock }),
    messages: messageFacet(api, linkPreviews),
  };
}

function messageFacet(api: DiscordApi, linkPreviews: boolean): Required<MessageFacet> {
  /** A bot has one reaction per emoji; to take "the" reaction back it has to know which it put. */
  const put = new Map<string, string>();
  return {
    edit: ({ chatId, threadId = chatId }, messageId, { text }) =>
      translated(threadId, async () => {
        await api.change(threadId, messageId, contentBody(text, {}, linkPreviews));
      }),
    delete: ({ chatId, threadId = chatId }, messageId) =>
      translated(threadId, () => api.remove(threadId, messageId)),
    react: ({ chatId, threadId = chatId }, messageId, emoji) =>
      translated(threadId, async () => {
        const old = put.get(messageId);
        if (old !== undefined && old !== emoji) await api.react(threadId, messageId, old, false);
        put.delete(messageId);
        if (emoji === undefined) return;
        await api.react(threadId, messageId, emoji, true);
        const [first] = put.keys();
        if (put.size >= MOST_REACTIONS && first !== undefined) put.delete(first);
        put.set(messageId, emoji);
      }),
  };
}

/** Messages whose reaction is remembered. */
const MOST_REACTIONS = 1_000;

async function translated<T>(channelId: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    throw sendErrorOf(callFailureOf(thrown), channelId, thrown);
  }
}

function laterBy(ms: number): (work: () => void) => () => void {
  return (work) => {
    const timer = setTimeout(work, ms).unref();
    return () => clearTimeout(timer);
  };
}

interface Receiving {
  start(): void;
  stop(): Promise<void>;
}

/** Everything that brings messages: connection, intake, commands, presses, and how far they have come. */
function createReceiving(
  context: ChannelContext<DiscordSettings>,
  ambience: DiscordAmbience,
  api: DiscordApi,
): Receiving {
  const { commands, log, values } = context;
  const stopping = new AbortController();
  const me = (): string | undefined => connection.client?.user?.id;
  const seen = new Seen(values, log, laterBy(WRITE_SEEN_MS));
  const findPlace = createPlaces(() => connection.client, api);
  const deps = { ...context, ...ambience, api, findPlace, me, seen };
  const intake = new Intake(deps);
  const interactions = new Set<Promise<void>>();
  const events: Readonly<Record<string, (data: unknown) => void>> = {
    MESSAGE_CREATE: (data) => intake.created(data),
    MESSAGE_UPDATE: (data) => intake.updated(data),
    MESSAGE_DELETE: (data) => intake.deleted(data),
    MESSAGE_DELETE_BULK: (data) => intake.deleted(data),
    INTERACTION_CREATE: (data) => {
      const taking = takeInteraction(deps, data).finally(() => interactions.delete(taking));
      interactions.add(taking);
    },
  };
  const register = async (applicationId: string): Promise<void> => {
    try {
      await registerMenu(api, applicationId, commands);
    } catch (thrown) {
      log.warn({ reason: reasonOf(thrown) }, 'commands could not be put into the menu of Discord');
    }
  };
  let registering: Promise<void> | undefined;
  const connection = new Connection({
    ...context,
    ...ambience,
    event: (name, data) => {
      if (!stopping.signal.aborted) events[name]?.(data);
    },
    beginning: (shard) => intake.hold(shard),
    begun: (shard, client) => {
      intake.catchUp(shard, knownChannels(client));
      if (client.user !== null) registering ??= register(client.user.id);
    },
  });
  let running: Promise<void> | undefined;
  const run = async (): Promise<void> => {
    await loadSeen(seen, log);
    await connection.run(stopping.signal);
  };
  return {
    start() {
      running ??= run();
    },
    async stop() {
      stopping.abort();
      await Promise.all([intake.stop(), ...interactions]);
      await seen.flush();
      await Promise.all([running, registering]);
    },
  };
}

async function loadSeen(seen: Seen, log: ChannelContext<unknown>['log']): Promise<void> {
  try {
    await seen.load();
  } catch (thrown) {
    log.error({ reason: reasonOf(thrown) }, 'what was missed is not known, so it is not fetched');
  }
}
