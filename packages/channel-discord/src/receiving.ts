import { once } from 'node:events';
import type { ChannelContext } from '@parley/channels';
import { ParleyError, reasonOf } from '@parley/contracts';
import { createAdministrators } from './administrators.ts';
import type { DiscordAmbience } from './ambience.ts';
import { Connection } from './connection.ts';
import type { DiscordApi } from './discord-api.ts';
import { Intake } from './intake.ts';
import { type InteractionDeps, takeInteraction } from './interactions.ts';
import { knownChannels } from './known-channels.ts';
import { later } from './later.ts';
import { registerMenu } from './menu.ts';
import { createPlaces } from './places.ts';
import { positionAfter, type Resumed, resumeSession } from './resume.ts';
import { type Position, Seen } from './seen.ts';
import type { DiscordSettings } from './settings.ts';
import { WireMessage } from './wire.ts';

type Context = ChannelContext<DiscordSettings>;

const LOAD_AGAIN_MS = 1_000;
/**
 * How long an old session may take to bring what was missed before the new one begins, and once more to
 * bring the rest after that. In ms.
 */
const RESUME_WITHIN_MS = 5_000;

type OnEvent = (data: unknown, before?: Position) => void;

/** Everything that brings messages: connection, intake, commands, presses, and how far they have come. */
export class Receiving {
  readonly #context: Context;
  readonly #api: DiscordApi;
  readonly #wait: DiscordAmbience['wait'];
  readonly #stopping = new AbortController();
  readonly #seen: Seen;
  readonly #intake: Intake;
  readonly #connection: Connection;
  readonly #events: Readonly<Record<string, OnEvent>>;
  /** The session of an earlier process, until all it had to bring was heard. */
  #resumed: Resumed | undefined;
  /** How far the session of this process has come; stored once the earlier one has brought all. */
  #position: Position | undefined;
  /** What the session of this process has brought meanwhile from direct chats. */
  readonly #later: (() => void)[] = [];
  /** How often the first shard has begun a session. */
  #sessions = 0;
  /** Commands and presses that are being taken. */
  readonly #interactions = new Set<Promise<void>>();
  #registering: Promise<void> | undefined;
  #running: Promise<void> | undefined;

  constructor(context: Context, ambience: DiscordAmbience, api: DiscordApi) {
    this.#context = context;
    this.#api = api;
    this.#wait = ambience.wait;
    this.#seen = new Seen(context.values, context.log, later);
    const me = () => this.#connection.client?.user?.id ?? this.#seen.position?.me;
    const findPlace = createPlaces(() => this.#connection.client, api);
    const factsOf = createAdministrators(() => this.#connection.client);
    const deps = { ...context, ...ambience, api, findPlace, factsOf, me };
    const intake = new Intake({ ...deps, seen: this.#seen });
    this.#intake = intake;
    this.#events = {
      MESSAGE_CREATE: (data, before) => intake.created(data, before),
      MESSAGE_UPDATE: (data) => intake.updated(data),
      MESSAGE_DELETE: (data) => intake.deleted(data),
      MESSAGE_DELETE_BULK: (data) => intake.deleted(data),
      INTERACTION_CREATE: (data) => this.#interact(deps, data),
    };
    this.#connection = new Connection({
      ...context,
      ...ambience,
      event: (event, shard) => {
        if (this.#stopping.signal.aborted) return;
        const take = () => this.#events[event.t]?.(event.d);
        if (this.#resumed !== undefined && isDirect(event.d)) this.#later.push(take);
        else take();
        // Direct messages come to the first; those of servers are found by their channels.
        if (shard !== 0) return;
        this.#position = positionAfter(event, this.#position);
        if (this.#resumed === undefined) this.#seen.at(this.#position);
      },
      beginning: (shard) => {
        if (shard === 0) this.#sessions += 1;
        intake.hold(shard);
      },
      begun: (shard, client) => {
        const catchUp = () => intake.catchUp(shard, knownChannels(client));
        if (shard !== 0 || this.#resumed === undefined) catchUp();
        else void this.#endResumed(this.#resumed, catchUp);
        if (client.application !== null)
          this.#registering ??= this.#register(client.application.id);
      },
    });
  }

  /** Begins to connect. */
  start(): void {
    this.#running ??= this.#run();
  }

  /** Takes nothing more; resolves when what is being stored is stored and the connection has ended. */
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

  /** What the session of an earlier process has missed; it goes on until the new one has begun. */
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

  /** Its last events may arrive after the new session has begun; what comes from that one waits for them. */
  async #endResumed(resumed: Resumed, catchUp: () => void): Promise<void> {
    const { signal } = this.#stopping;
    const session = this.#sessions;
    const patience = AbortSignal.any([signal, AbortSignal.timeout(RESUME_WITHIN_MS)]);
    await Promise.race([resumed.drained(), once(patience, 'abort')]);
    // After a stop the next process goes on where this session was; a later session catches up by itself.
    if (signal.aborted || session !== this.#sessions) return;
    resumed.close();
    this.#resumed = undefined;
    for (const take of this.#later.splice(0)) take();
    this.#seen.at(this.#position);
    catchUp();
  }

  /** Without it nothing that was missed would be fetched, so a database that is away is waited for. */
  async #loadSeen(): Promise<void> {
    const { clock, log, report } = this.#context;
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      try {
        return await this.#seen.load();
      } catch (thrown) {
        const reason = reasonOf(thrown);
        if (!(thrown instanceof ParleyError && thrown.retryable)) {
          log.error({ reason }, 'what was missed is not known, so it is not fetched');
          return;
        }
        report({ kind: 'retrying', reason, nextAttemptAt: clock() + LOAD_AGAIN_MS });
        await this.#wait(LOAD_AGAIN_MS, signal);
      }
    }
  }

  #interact(deps: InteractionDeps, data: unknown): void {
    const taking = takeInteraction(deps, data).finally(() => this.#interactions.delete(taking));
    this.#interactions.add(taking);
  }

  async #register(applicationId: string): Promise<void> {
    const { commands, log } = this.#context;
    try {
      await registerMenu(this.#api, applicationId, commands);
    } catch (thrown) {
      log.warn({ reason: reasonOf(thrown) }, 'commands could not be put into the menu of Discord');
    }
  }
}

/** Presses and commands are too old to be answered, and servers tell what was missed by their channels. */
function isDirect(data: unknown): boolean {
  const message = WireMessage.safeParse(data);
  return message.success && message.data.guild_id === undefined;
}
