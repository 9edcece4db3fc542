import type { ChannelContext, ChannelEnv } from '@parley/channels';
import { reportAndWait } from '@parley/channels';
import { ParleyError, reasonOf } from '@parley/core';
import type { Client } from 'discord.js';
import { z } from 'zod';
import type { DiscordApi } from './api.ts';
import { Connection, type GatewayEvent, startTimer } from './connection.ts';
import { EarlierSessionManager } from './earlier-sessions.ts';
import { Intake } from './intake.ts';
import { admitInteraction, type InteractionDeps } from './interactions.ts';
import { registerMenu } from './menu.ts';
import { createMissingContentDetector } from './missing-content.ts';
import { createChatLookup, createSenderFacts } from './places.ts';
import { advancePosition, type SessionPosition } from './positions.ts';
import { ReactionTracker } from './reactions.ts';
import type { InteractionResponder } from './responses.ts';
import { MessageCursorStore } from './seen.ts';
import type { DiscordSettings } from './settings.ts';
import { listKnownChannels } from './what-to-fetch.ts';
import { Snowflake } from './wire.ts';
import { WireMessage } from './wire-message.ts';

type DiscordContext = ChannelContext<DiscordSettings>;

const RELOAD_DELAY_MS = 1_000;
/** The shard that receives all direct messages. */
const FIRST_SHARD = 0;

type OnEvent = (data: unknown, before?: SessionPosition) => void;

const MaybeId = Snowflake.optional().catch(undefined);
/** The ids of any kind of event; missing ids are undefined. */
const EventIds = z
  .object({ id: MaybeId, channel_id: MaybeId, guild_id: MaybeId })
  .catch({ id: undefined, channel_id: undefined, guild_id: undefined });

/**
 * The receiving half of the adapter: the connection, messages, commands and buttons, and the stored
 * position.
 */
export class Receiver {
  readonly #context: DiscordContext;
  readonly #api: DiscordApi;
  readonly #wait: ChannelEnv['wait'];
  readonly #stopping = new AbortController();
  readonly #seen: MessageCursorStore;
  readonly #intake: Intake;
  readonly #connection: Connection;
  readonly #events: Readonly<Record<string, OnEvent>>;
  readonly #earlier: EarlierSessionManager;
  /** The position of this process's session. */
  #position: SessionPosition | undefined;
  /**
   * Whether events from direct chats and the stored position have to wait until an earlier session
   * has delivered its remaining events.
   */
  #isPostponing = false;
  readonly #postponed: (() => void)[] = [];
  /**
   * Releases the stored position, which keeps its value from the last process until all shards have
   * listed their channels. Otherwise, a message from an earlier session could hide missed messages
   * in a channel that is not known yet.
   */
  #releaseStart: () => void = () => {};
  readonly #caughtUp = new Set<number>();
  /** The number of sessions that the first shard has started. */
  #sessions = 0;
  /** Commands and pressed buttons in progress. */
  readonly #interactions = new Set<Promise<void>>();
  #registering: Promise<void> | undefined;
  #running: Promise<void> | undefined;

  constructor(
    context: DiscordContext,
    env: ChannelEnv,
    { api, responses }: { readonly api: DiscordApi; readonly responses: InteractionResponder },
  ) {
    this.#context = context;
    this.#api = api;
    this.#wait = env.wait;
    this.#seen = new MessageCursorStore({ ...context, later: startTimer });
    this.#earlier = new EarlierSessionManager({
      ...context,
      ...env,
      token: context.settings.token,
      seen: this.#seen,
      later: startTimer,
      onEvent: (name, data, before) => {
        if (!this.#stopping.signal.aborted && isDirectMessage(data))
          this.#events[name]?.(data, before);
      },
    });
    const findPlace = createChatLookup(() => this.#connection.client, api);
    const factsOf = createSenderFacts(() => this.#connection.client, api);
    const deps = { ...context, ...env, api, responses, findPlace, factsOf, me: () => this.me };
    const intake = new Intake({
      ...deps,
      seen: this.#seen,
      watchContent: createMissingContentDetector(context),
    });
    this.#intake = intake;
    const reactions = new ReactionTracker(deps);
    this.#events = {
      MESSAGE_CREATE: (data, before) => intake.created(data, before),
      MESSAGE_UPDATE: (data) => intake.updated(data),
      MESSAGE_DELETE: (data) => intake.deleted(data),
      MESSAGE_DELETE_BULK: (data) => intake.deleted(data),
      MESSAGE_REACTION_ADD: (data) => intake.reacted(reactions.read(data, 'added')),
      MESSAGE_REACTION_REMOVE: (data) => intake.reacted(reactions.read(data, 'removed')),
      MESSAGE_REACTION_REMOVE_ALL: (data) => intake.reacted(reactions.readCleared(data)),
      MESSAGE_REACTION_REMOVE_EMOJI: (data) => intake.reacted(reactions.readCleared(data)),
      INTERACTION_CREATE: (data) =>
        this.#interact({ ...deps, served: (...at) => this.#seen.serve(...at) }, data),
    };
    this.#connection = new Connection({
      ...context,
      ...env,
      onEvent: (event, shard) => this.#receive(event, shard),
      onSessionStart: (shard) => {
        if (shard === FIRST_SHARD) this.#sessions += 1;
        intake.hold(shard);
      },
      onShardReady: (shard, client) => this.#ready(shard, client),
      onUnreadable: (event, thrown) => void this.#noteUnreadable(event, thrown),
    });
  }

  get me(): string | undefined {
    return this.#connection.client?.user?.id ?? this.#seen.position?.me;
  }

  /** Returns whether the gateway has listed a thread with this id. */
  isThread(id: string): boolean {
    return this.#connection.client?.channels.cache.get(id)?.isThread() === true;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /**
   * Stops accepting events; resolves when messages in progress are stored and the connection is
   * closed.
   */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all([this.#intake.stop(), ...this.#interactions]);
    await this.#seen.flush();
    await Promise.all([this.#running, this.#registering]);
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    await this.#loadSeen();
    const { newest } = this.#seen.cursors();
    // Messages from earlier sessions wait until older messages from the same chats have been
    // fetched. Storing such a message too early would move its chat's position. Messages that an
    // even earlier session lost would then be answered late or never fetched.
    if (newest !== undefined) this.#releaseStart = this.#seen.hold(newest);
    this.#earlier.start(signal);
    this.#isPostponing = this.#earlier.arePending;
    if (this.#isPostponing) this.#intake.hold(FIRST_SHARD);
    await this.#earlier.caughtUp(signal);
    await this.#connection.run(signal);
    this.#stopping.abort();
  }

  #receive(event: GatewayEvent, shard: number): void {
    if (this.#stopping.signal.aborted) return;
    // Direct messages arrive on the first shard; missed server messages are found channel by
    // channel.
    const isFirst = shard === FIRST_SHARD;
    if (isFirst && event.t === 'READY') this.#startSession(event);
    const handle = () => this.#events[event.t]?.(event.d);
    if (this.#isPostponing && isDirectMessage(event.d)) this.#postponed.push(handle);
    else handle();
    if (!isFirst || event.t === 'READY') return;
    this.#position = advancePosition(event, this.#position);
    if (!this.#isPostponing) this.#storePosition();
  }

  /**
   * Resumes the previous session, because only that session has the direct messages that new people
   * have sent in the meantime.
   */
  #startSession(ready: GatewayEvent): void {
    const before = this.#seen.position;
    this.#position = advancePosition(ready, this.#position ?? before);
    if (this.#position?.session === before?.session) return;
    this.#earlier.replace(before, this.#stopping.signal);
    this.#isPostponing = this.#earlier.arePending;
    this.#storePosition();
  }

  #storePosition(): void {
    if (this.#position === undefined) return;
    const givenUp = this.#seen.moveTo(this.#position);
    if (givenUp !== undefined) this.#earlier.giveUp(givenUp);
  }

  #ready(shard: number, client: Client): void {
    const catchUp = () => {
      this.#intake.catchUp(shard, listKnownChannels(client));
      if (this.#caughtUp.add(shard).size >= client.ws.shards.size) this.#releaseStart();
    };
    if (shard === FIRST_SHARD && this.#isPostponing) void this.#awaitEarlier(catchUp);
    else catchUp();
    if (client.application !== null) this.#registering ??= this.#register(client.application.id);
  }

  /**
   * Waits for the last events from the earlier session, which may arrive after the new session has
   * started, and then handles the postponed events.
   */
  async #awaitEarlier(catchUp: () => void): Promise<void> {
    const { signal } = this.#stopping;
    const session = this.#sessions;
    await this.#earlier.settled(signal);
    // After a stop, the next process finishes catching up; a later session catches up by itself.
    if (signal.aborted || session !== this.#sessions) return;
    this.#isPostponing = false;
    for (const handle of this.#postponed.splice(0)) handle();
    this.#storePosition();
    catchUp();
  }

  /**
   * Loads the stored positions. Without them, missed messages would not be fetched, so startup
   * waits until the database is available.
   */
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
        await reportAndWait({ kind: 'retry', afterMs: RELOAD_DELAY_MS, reason }, deps, signal);
      }
    }
  }

  /**
   * Records an event that could not be parsed. Messages are not lost with such an event, because
   * this adapter parses them itself. Other events are recorded for `why` and the metrics.
   */
  async #noteUnreadable({ t, d, s }: GatewayEvent, thrown: unknown): Promise<void> {
    const { log, clock, ignored } = this.#context;
    const isRead = this.#events[t] !== undefined;
    log.warn({ event: t, isRead, reason: reasonOf(thrown) }, 'discord.js cannot read this event');
    if (isRead) return;
    const { id, channel_id, guild_id } = EventIds.parse(d);
    const event = { chatId: channel_id ?? guild_id ?? '0', messageId: id ?? `${t} ${s}` };
    try {
      await ignored({ ...event, at: clock() }, `Discord sent ${t} in an unknown form`);
    } catch (failure) {
      log.warn({ event: t, reason: reasonOf(failure) }, 'the event could not be recorded');
    }
  }

  #interact(deps: InteractionDeps, data: unknown): void {
    const admitting = admitInteraction(deps, data).finally(() =>
      this.#interactions.delete(admitting),
    );
    this.#interactions.add(admitting);
  }

  async #register(applicationId: string): Promise<void> {
    const { log } = this.#context;
    try {
      const { userInstall } = this.#context.settings;
      await registerMenu({ ...this.#context, userInstall, api: this.#api }, applicationId);
    } catch (thrown) {
      log.warn(
        { reason: reasonOf(thrown) },
        'the slash commands could not be registered with Discord',
      );
    }
  }
}

/**
 * Whether an event is a direct message, which must be handled even if it arrives late. Missed
 * commands and buttons are too old to answer; missed server messages are found channel by channel.
 */
function isDirectMessage(data: unknown): boolean {
  const message = WireMessage.safeParse(data);
  return message.success && message.data.guild_id === undefined;
}
