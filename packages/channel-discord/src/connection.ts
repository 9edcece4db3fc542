import { type ChannelState, guarded, handling } from '@parley/channels';
import { type Clock, type Logger, reasonOf } from '@parley/contracts';
import { Client, type ClientEvents, Events, GatewayIntentBits, Options } from 'discord.js';
import { afterEnding, type Ending } from './after-ending.ts';
import type { DiscordAmbience } from './ambience.ts';
import { callFailureOf } from './call-failure.ts';
import { MortalSharding } from './mortal-sharding.ts';
import type { DiscordSettings } from './settings.ts';

/** Name, data and number of an event. */
export interface GatewayEvent {
  readonly t: string;
  readonly d: unknown;
  readonly s: number;
}

/** What a connection needs, and whom it tells what. */
export interface ConnectionDeps extends DiscordAmbience {
  readonly settings: DiscordSettings;
  readonly report: (state: ChannelState) => void;
  readonly log: Logger;
  readonly clock: Clock;
  /** An event of the gateway, as it came; `s` is its number in the session of the shard. */
  readonly event: (event: GatewayEvent, shard: number) => void;
  /** A shard begins a new session; what was said before is lost to it. */
  readonly beginning: (shard: number) => void;
  /** The shard knows its servers and channels. */
  readonly begun: (shard: number, client: Client) => void;
}

/** A connection that lasted this long ended for a reason of its own, in ms. */
const PEACE_MS = 60_000;
/** discord.js tries a broken connection again after this long, in ms. */
const OWN_RETRY_MS = 500;

/**
 * The gateway connection of an account. discord.js resumes and identifies by itself; what it gives up
 * is begun again here, unless a person must do something.
 */
export class Connection {
  readonly #deps: ConnectionDeps;
  #client: Client | undefined;

  constructor(deps: ConnectionDeps) {
    this.#deps = deps;
  }

  /** What discord.js knows of servers, channels and the bot itself. */
  get client(): Client | undefined {
    return this.#client;
  }

  /** Connects until the signal is aborted or it has to give up. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, random, report, wait } = this.#deps;
    for (let failures = 0; !signal.aborted; failures += 1) {
      const begin = clock();
      const ending = await this.#once(signal);
      if (signal.aborted) return;
      if (clock() - begin >= PEACE_MS) failures = 0;
      const decision = afterEnding(ending, failures, random(), clock());
      if (decision.kind === 'give-up') {
        report({ kind: 'failed', reason: decision.reason, mend: decision.mend });
        return;
      }
      const nextAttemptAt = clock() + decision.afterMs;
      report({ kind: 'retrying', reason: decision.reason, nextAttemptAt });
      await wait(decision.afterMs, signal);
    }
  }

  async #once(signal: AbortSignal): Promise<Ending> {
    const client = newClient(this.#deps.settings);
    this.#client = client;
    const { promise: ended, resolve: end } = Promise.withResolvers<Ending>();
    const stop = () => end({ reason: 'stopped' });
    signal.addEventListener('abort', stop, { once: true });
    this.#listen(client, end);
    client.login(this.#deps.settings.token).catch((thrown: unknown) => end(endingOf(thrown)));
    const ending = await ended;
    signal.removeEventListener('abort', stop);
    client.removeAllListeners();
    client.on(Events.Error, () => {});
    await client.destroy().catch((thrown: unknown) => {
      this.#deps.log.debug({ reason: reasonOf(thrown) }, 'the connection did not end in order');
    });
    return ending;
  }

  #listen(client: Client, end: (ending: Ending) => void): void {
    const { beginning, begun, event, log } = this.#deps;
    const down = new Set<number>();
    const up = (shard: number): void => {
      down.delete(shard);
      this.#tell(client, down);
    };
    const on = <E extends keyof ClientEvents>(
      name: E,
      listener: (...args: ClientEvents[E]) => void,
    ) => client.on(name, guarded(name, listener));
    client.on(Events.Raw, (raw: GatewayEvent, shard: number) => {
      handling(raw.t);
      const take = guarded(raw.t, () => {
        if (raw.t === 'READY') beginning(shard);
        event(raw, shard);
      });
      take();
    });
    on(Events.ShardReady, (shard) => {
      begun(shard, client);
      up(shard);
    });
    on(Events.ClientReady, () => this.#tell(client, down));
    on(Events.ShardResume, up);
    on(Events.ShardReconnecting, (shard) => {
      down.add(shard);
      this.#tell(client, down);
    });
    on(Events.ShardDisconnect, ({ code }) =>
      end({ reason: `closed with ${code}`, closeCode: code }),
    );
    on(Events.Invalidated, () => end({ reason: 'the session was made invalid' }));
    const note = (error: Error) => log.warn({ reason: reasonOf(error) }, 'Discord connection');
    on(Events.Error, note);
    on(Events.ShardError, note);
  }

  #tell(client: Client, down: ReadonlySet<number>): void {
    const { clock, report } = this.#deps;
    if (down.size > 0) {
      const reason = `the connection to Discord broke (shard ${[...down].join(', ')})`;
      report({ kind: 'retrying', reason, nextAttemptAt: clock() + OWN_RETRY_MS });
    } else if (client.isReady()) {
      report({ kind: 'connected', as: `@${client.user.username}` });
    }
  }
}

/** Nothing of people and messages is kept: both come with each event. */
function newClient({ apiRoot, messageContent, shards }: DiscordSettings): Client {
  return new Client({
    intents: [
      GatewayIntentBits.Guilds,
      GatewayIntentBits.GuildMessages,
      GatewayIntentBits.DirectMessages,
      ...(messageContent ? [GatewayIntentBits.MessageContent] : []),
    ],
    makeCache: Options.cacheWithLimits({
      MessageManager: 0,
      PresenceManager: 0,
      ReactionManager: 0,
      ThreadMemberManager: 0,
      UserManager: { maxSize: 100, keepOverLimit: ({ id, client }) => id === client.user.id },
      GuildMemberManager: {
        maxSize: 0,
        keepOverLimit: ({ id, client }) => id === client.user.id,
      },
    }),
    ...(shards === 'auto' ? { shards: 'auto' as const } : { shardCount: shards }),
    rest: { api: apiRoot.replace(/\/$/, '') },
    ws: { buildStrategy: (manager) => new MortalSharding(manager) },
  });
}

function endingOf(thrown: unknown): Ending {
  const failure = callFailureOf(thrown);
  const reason = reasonOf(thrown);
  return failure.kind === 'rate-limited'
    ? { reason, retryAfterMs: failure.retryAfterMs }
    : { reason };
}
