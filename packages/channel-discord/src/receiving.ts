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
import { Seen } from './seen.ts';
import type { DiscordSettings } from './settings.ts';

type Context = ChannelContext<DiscordSettings>;

const LOAD_AGAIN_MS = 1_000;

/** Everything that brings messages: connection, intake, commands, presses, and how far they have come. */
export class Receiving {
  readonly #context: Context;
  readonly #api: DiscordApi;
  readonly #wait: DiscordAmbience['wait'];
  readonly #stopping = new AbortController();
  readonly #seen: Seen;
  readonly #intake: Intake;
  readonly #connection: Connection;
  /** Commands and presses that are being taken. */
  readonly #interactions = new Set<Promise<void>>();
  #registering: Promise<void> | undefined;
  #running: Promise<void> | undefined;

  constructor(context: Context, ambience: DiscordAmbience, api: DiscordApi) {
    this.#context = context;
    this.#api = api;
    this.#wait = ambience.wait;
    this.#seen = new Seen(context.values, context.log, later);
    const me = () => this.#connection.client?.user?.id;
    const findPlace = createPlaces(() => this.#connection.client, api);
    const factsOf = createAdministrators(() => this.#connection.client);
    const deps = { ...context, ...ambience, api, findPlace, factsOf, me };
    const intake = new Intake({ ...deps, seen: this.#seen });
    this.#intake = intake;
    const events: Readonly<Record<string, (data: unknown) => void>> = {
      MESSAGE_CREATE: (data) => intake.created(data),
      MESSAGE_UPDATE: (data) => intake.updated(data),
      MESSAGE_DELETE: (data) => intake.deleted(data),
      MESSAGE_DELETE_BULK: (data) => intake.deleted(data),
      INTERACTION_CREATE: (data) => this.#interact(deps, data),
    };
    this.#connection = new Connection({
      ...context,
      ...ambience,
      event: (name, data) => {
        if (!this.#stopping.signal.aborted) events[name]?.(data);
      },
      beginning: (shard) => intake.hold(shard),
      begun: (shard, client) => {
        intake.catchUp(shard, knownChannels(client));
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
    await this.#connection.run(this.#stopping.signal);
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
