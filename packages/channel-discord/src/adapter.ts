import { once } from 'node:events';
import {
  type ChannelAdapter,
  type ChannelContext,
  type ChannelEnv,
  realEnv,
  reportAndWait,
} from '@parley/channels';
import { type Capabilities, ParleyError, reasonOf } from '@parley/core';
import { DiscordApi } from './api.ts';
import { Connection, later } from './connection.ts';
import { translated } from './failures.ts';
import { createFiles } from './files.ts';
import { MAX_TEXT } from './format.ts';
import { Intake, knownChannels } from './intake.ts';
import { admitInteraction, type InteractionDeps, registerMenu } from './menu.ts';
import { createContentWatch } from './missing-content.ts';
import { createPlaces, createSenderFacts } from './places.ts';
import { Reactions } from './reactions.ts';
import { Responses } from './responses.ts';
import { type Position, positionAfter, type Resumed, resumeSession, Seen } from './resume.ts';
import { createMessageFacet, sendPart } from './send.ts';
import type { DiscordSettings } from './settings.ts';
import { Streams } from './stream.ts';
import { Threads } from './threads.ts';
import { WireMessage } from './wire.ts';

const CAPABILITIES: Capabilities = {
  // Which characters Discord counts it does not say; UTF-16 units are never fewer, so they are safe.
  target: { dialect: 'discord', maxLength: MAX_TEXT, unit: 'utf16' },
  idempotentSend: true,
  // Discord remembers a nonce for "the past few minutes": https://discord.com/developers/docs/resources/message
  idempotentForMs: 180_000,
  typing: true,
  edit: true,
  delete: true,
  react: true,
  threads: true,
  quotes: true,
  buttons: true,
  streaming: 'replace',
  media: ['image', 'audio', 'voice', 'video', 'document'],
  // What every server takes; boosted ones take more.
  maxFileBytes: 10 * 1024 * 1024,
  // No rates: discord.js keeps to the buckets that Discord names in each response.
};

/** Discord shows "typing" for 10 s. */
const TYPING_REPEAT_MS = 8_000;
/** Discord allows five edits in five seconds in a channel; this leaves some for other messages. In ms. */
const EDIT_EVERY_MS = 1_200;

/** One Discord bot. No network traffic before `start`. */
export function createDiscordAdapter(
  context: ChannelContext<DiscordSettings>,
  env: ChannelEnv = realEnv,
): ChannelAdapter {
  const { clock, log, report, settings, values } = context;
  const { linkPreviews } = settings;
  const api = new DiscordApi(settings, context);
  const streams = new Streams({ api, values, linkPreviews, log, later });
  const responses = new Responses({ api });
  const receiver = new Receiver(context, env, { api, responses });
  const threads = new Threads({ ...context, api, me: () => receiver.me });
  return {
    capabilities: CAPABILITIES,
    async start() {
      report({ kind: 'starting' });
      receiver.start();
    },
    async stop() {
      streams.close();
      await receiver.stop();
      api.close();
      report({ kind: 'stopped' });
    },
    send: (part, signal) =>
      sendPart({ api, streams, responses, threads, linkPreviews, log }, part, signal),
    typing: {
      repeatMs: TYPING_REPEAT_MS,
      show: (address) => {
        const { chatId, threadId = chatId } = threads.known(address);
        return translated(threadId, () => api.showTyping(threadId));
      },
    },
    streaming: {
      minIntervalMs: EDIT_EVERY_MS,
      // To a command Discord shows "thinking" until the answer is whole.
      update: async (address, turnId, answer) => {
        if (address.response !== undefined) return;
        await translated(address.threadId ?? address.chatId, async () =>
          streams.update(await threads.open(address), turnId, answer),
        );
      },
      // The parts of the finished answer replace the messages that are shown.
      end: async (address, turnId, comes) => {
        if (comes !== 'nothing') return;
        if (address.response === undefined) await streams.discard(threads.known(address), turnId);
        else await translated(address.chatId, () => responses.drop(address));
      },
    },
    files: createFiles({ api, apiRoot: settings.apiRoot, clock }),
    messages: createMessageFacet(api, linkPreviews),
  };
}

type Context = ChannelContext<DiscordSettings>;

const LOAD_AGAIN_MS = 1_000;
/**
 * How long an earlier session may take to deliver missed events before the new one starts, and again to
 * deliver the rest after that. In ms.
 */
const RESUME_WITHIN_MS = 5_000;

type OnEvent = (data: unknown, before?: Position) => void;

/** The receiving half: connection, messages, commands and buttons, and the position up to which they are stored. */
class Receiver {
  readonly #context: Context;
  readonly #api: DiscordApi;
  readonly #wait: ChannelEnv['wait'];
  readonly #stopping = new AbortController();
  readonly #seen: Seen;
  readonly #intake: Intake;
  readonly #connection: Connection;
  readonly #events: Readonly<Record<string, OnEvent>>;
  /** The session of an earlier process, until all its events are received. */
  #resumed: Resumed | undefined;
  /** Position of this process's session; stored once the earlier session has delivered everything. */
  #position: Position | undefined;
  /** Events of direct chats that this process's session has delivered meanwhile. */
  readonly #postponed: (() => void)[] = [];
  /** How many sessions the first shard has started. */
  #sessions = 0;
  /** Commands and pressed buttons in progress. */
  readonly #interactions = new Set<Promise<void>>();
  #registering: Promise<void> | undefined;
  #running: Promise<void> | undefined;

  constructor(
    context: Context,
    env: ChannelEnv,
    { api, responses }: { readonly api: DiscordApi; readonly responses: Responses },
  ) {
    this.#context = context;
    this.#api = api;
    this.#wait = env.wait;
    this.#seen = new Seen(context.values, context.log, later);
    const findPlace = createPlaces(() => this.#connection.client, api);
    const factsOf = createSenderFacts(() => this.#connection.client, api);
    const deps = { ...context, ...env, api, responses, findPlace, factsOf, me: () => this.me };
    const intake = new Intake({
      ...deps,
      seen: this.#seen,
      watchContent: createContentWatch(context),
    });
    this.#intake = intake;
    const reactions = new Reactions(deps);
    this.#events = {
      MESSAGE_CREATE: (data, before) => intake.created(data, before),
      MESSAGE_UPDATE: (data) => intake.updated(data),
      MESSAGE_DELETE: (data) => intake.deleted(data),
      MESSAGE_DELETE_BULK: (data) => intake.deleted(data),
      MESSAGE_REACTION_ADD: (data) => intake.reacted(reactions.read(data, 'added')),
      MESSAGE_REACTION_REMOVE: (data) => intake.reacted(reactions.read(data, 'removed')),
      INTERACTION_CREATE: (data) => this.#interact(deps, data),
    };
    this.#connection = new Connection({
      ...context,
      ...env,
      onEvent: (event, shard) => {
        if (this.#stopping.signal.aborted) return;
        const handle = () => this.#events[event.t]?.(event.d);
        if (this.#resumed !== undefined && isDirect(event.d)) this.#postponed.push(handle);
        else handle();
        // Direct messages arrive on the first shard; missed messages of servers are found by channel.
        if (shard !== 0) return;
        this.#position = positionAfter(event, this.#position);
        if (this.#resumed === undefined) this.#seen.moveTo(this.#position);
      },
      onSessionStart: (shard) => {
        if (shard === 0) this.#sessions += 1;
        intake.hold(shard);
      },
      onShardReady: (shard, client) => {
        const catchUp = () => intake.catchUp(shard, knownChannels(client));
        if (shard !== 0 || this.#resumed === undefined) catchUp();
        else void this.#endResumed(this.#resumed, catchUp);
        if (client.application !== null)
          this.#registering ??= this.#register(client.application.id);
      },
    });
  }

  /** The bot's own id. */
  get me(): string | undefined {
    return this.#connection.client?.user?.id ?? this.#seen.position?.me;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Accepts nothing more; resolves when messages in progress are stored and the connection is closed. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all([this.#intake.stop(), ...this.#interactions]);
    await this.#seen.flush();
    await Promise.all([this.#running, this.#registering]);
  }

  async #run(): Promise<void> {
    await this.#loadSeen();
    await this.#resume();
    await this.#connection.run(this.#stopping.signal);
    this.#resumed?.close();
  }

  /** Fetches what the session of an earlier process missed; it stays open until the new session is ready. */
  async #resume(): Promise<void> {
    const { signal } = this.#stopping;
    const from = this.#seen.position;
    if (from === undefined || signal.aborted) return;
    const { token } = this.#context.settings;
    this.#resumed = resumeSession({ token, from }, (name, data, before) => {
      if (!signal.aborted && isDirect(data)) this.#events[name]?.(data, before);
    });
    const patience = AbortSignal.any([signal, AbortSignal.timeout(RESUME_WITHIN_MS)]);
    await Promise.race([this.#resumed.caughtUp, once(patience, 'abort')]);
    if (this.#resumed.isOpen()) return;
    this.#resumed.close();
    this.#resumed = undefined;
  }

  /** Its last events may arrive after the new session has started, whose events wait for them. */
  async #endResumed(resumed: Resumed, catchUp: () => void): Promise<void> {
    const { signal } = this.#stopping;
    const session = this.#sessions;
    const patience = AbortSignal.any([signal, AbortSignal.timeout(RESUME_WITHIN_MS)]);
    await Promise.race([resumed.drained(), once(patience, 'abort')]);
    // After a stop the next process continues this session; a later session catches up by itself.
    if (signal.aborted || session !== this.#sessions) return;
    resumed.close();
    this.#resumed = undefined;
    for (const handle of this.#postponed.splice(0)) handle();
    this.#seen.moveTo(this.#position);
    catchUp();
  }

  /** Without it no missed message would be fetched, so this waits for a database that is away. */
  async #loadSeen(): Promise<void> {
    const { log } = this.#context;
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      try {
        return await this.#seen.load();
      } catch (thrown) {
        const reason = reasonOf(thrown);
        if (!(thrown instanceof ParleyError && thrown.retryable)) {
          log.error(
            { reason },
            'the last position cannot be read; missed messages are not fetched',
          );
          return;
        }
        const deps = { ...this.#context, wait: this.#wait };
        await reportAndWait({ kind: 'retry', afterMs: LOAD_AGAIN_MS, reason }, deps, signal);
      }
    }
  }

  #interact(deps: InteractionDeps, data: unknown): void {
    const admitting = admitInteraction(deps, data).finally(() =>
      this.#interactions.delete(admitting),
    );
    this.#interactions.add(admitting);
  }

  async #register(applicationId: string): Promise<void> {
    const { commands, log } = this.#context;
    try {
      await registerMenu(this.#api, applicationId, commands);
    } catch (thrown) {
      log.warn(
        { reason: reasonOf(thrown) },
        'the slash commands could not be registered with Discord',
      );
    }
  }
}

/** Missed commands and buttons are too old to answer; missed messages of servers are found by channel. */
function isDirect(data: unknown): boolean {
  const message = WireMessage.safeParse(data);
  return message.success && message.data.guild_id === undefined;
}
