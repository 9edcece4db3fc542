import {
  type ChannelEnv,
  type ChannelState,
  guarded,
  realEnv,
  reportAndWait,
  setHandledEvent,
} from '@parley/channels';
import { type Clock, type Logger, type Monotonic, reasonOf } from '@parley/core';
import {
  Client,
  type ClientEvents,
  Events,
  GatewayIntentBits,
  Options,
  SimpleShardingStrategy,
} from 'discord.js';
import { type ConnectionClosure, decideAfterConnectionFailure, toCallFailure } from './failures.ts';
import type { DiscordSettings } from './settings.ts';

/** The name, data and sequence number of an event. */
export interface GatewayEvent {
  readonly t: string;
  readonly d: unknown;
  readonly s: number;
}

interface ConnectionDeps extends ChannelEnv {
  readonly settings: DiscordSettings;
  readonly report: (state: ChannelState) => void;
  readonly log: Logger;
  readonly clock: Clock;
  readonly monotonic: Monotonic;
  /** Called with each gateway event, unchanged. */
  readonly onEvent: (event: GatewayEvent, shard: number) => void;
  /** Called when a shard starts a new session, which does not deliver earlier events. */
  readonly onSessionStart: (shard: number) => void;
  /** Called when the shard has received its servers and channels. */
  readonly onShardReady: (shard: number, client: Client) => void;
  /** Called if discord.js cannot parse an event; the event was passed to `onEvent` before. */
  readonly onUnreadable: (event: GatewayEvent, thrown: unknown) => void;
}

/** A connection that lasted at least this long (ms) resets the failure count. */
const STABLE_AFTER_MS = 60_000;
/** How long (ms) discord.js waits before it reconnects. */
const OWN_RETRY_MS = 500;

/**
 * An account's gateway connection. discord.js resumes and identifies by itself. If discord.js gives
 * up, this class reconnects, unless a person has to act first.
 */
export class Connection {
  readonly #deps: ConnectionDeps;
  #client: Client | undefined;

  constructor(deps: ConnectionDeps) {
    this.#deps = deps;
  }

  /** The discord.js client, with its caches of servers and channels and its data about the bot. */
  get client(): Client | undefined {
    return this.#client;
  }

  /** Stays connected until the signal is aborted or it has to give up. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, monotonic, random } = this.#deps;
    for (let failures = 0; !signal.aborted; failures += 1) {
      const startedAt = monotonic();
      const ending = await this.#once(signal);
      if (signal.aborted) return;
      if (monotonic() - startedAt >= STABLE_AFTER_MS) failures = 0;
      const decision = decideAfterConnectionFailure(ending, failures, random(), clock());
      if (!(await reportAndWait(decision, this.#deps, signal))) return;
    }
  }

  async #once(signal: AbortSignal): Promise<ConnectionClosure> {
    const client = createClient(this.#deps.settings);
    this.#client = client;
    const { promise: ended, resolve: end } = Promise.withResolvers<ConnectionClosure>();
    const stop = () => end({ reason: 'stopped' });
    signal.addEventListener('abort', stop, { once: true });
    this.#listen(client, end);
    client
      .login(this.#deps.settings.token)
      .catch((thrown: unknown) => end(toConnectionClosure(thrown)));
    const ending = await ended;
    signal.removeEventListener('abort', stop);
    client.removeAllListeners();
    client.on(Events.Error, () => {});
    await client.destroy().catch((thrown: unknown) => {
      this.#deps.log.debug({ reason: reasonOf(thrown) }, 'the connection did not close cleanly');
    });
    return ending;
  }

  #listen(client: Client, end: (ending: ConnectionClosure) => void): void {
    const { onEvent, onSessionStart, onShardReady, onUnreadable, log } = this.#deps;
    ignoreUnreadablePackets(client, guarded('unreadable event', onUnreadable));
    const down = new Set<number>();
    const up = (shard: number): void => {
      down.delete(shard);
      this.#reportState(client, down);
    };
    const on = <E extends keyof ClientEvents>(
      name: E,
      listener: (...args: ClientEvents[E]) => void,
    ) => client.on(name, guarded(name, listener));
    client.on(Events.Raw, (raw: GatewayEvent, shard: number) => {
      setHandledEvent(raw.t);
      const handle = guarded(raw.t, () => {
        if (raw.t === 'READY') onSessionStart(shard);
        onEvent(raw, shard);
      });
      handle();
    });
    on(Events.ShardReady, (shard) => {
      onShardReady(shard, client);
      up(shard);
    });
    on(Events.ClientReady, () => this.#reportState(client, down));
    on(Events.ShardResume, up);
    on(Events.ShardReconnecting, (shard) => {
      down.add(shard);
      this.#reportState(client, down);
    });
    on(Events.ShardDisconnect, ({ code }) =>
      end({ reason: `closed with ${code}`, closeCode: code }),
    );
    on(Events.Invalidated, () => end({ reason: 'the session was invalidated' }));
    const note = (error: Error) => log.warn({ reason: reasonOf(error) }, 'Discord connection');
    on(Events.Error, note);
    on(Events.ShardError, note);
  }

  #reportState(client: Client, down: ReadonlySet<number>): void {
    const { clock, report } = this.#deps;
    if (down.size > 0) {
      const reason = `the connection to Discord was lost (shard ${[...down].join(', ')})`;
      report({ kind: 'retrying', reason, nextAttemptAt: clock() + OWN_RETRY_MS });
    } else if (client.isReady()) {
      report({ kind: 'connected', as: `@${client.user.username}` });
    }
  }
}

/** Without the first events there is no session, so the adapter must restart. */
const SESSION_EVENTS: ReadonlySet<string> = new Set(['READY', 'RESUMED']);

/**
 * Contains the failure if discord.js cannot parse an event. Otherwise, the error would propagate
 * from the socket's listener, where no caller handles it. The adapter would restart, and other
 * events would be delayed.
 */
function ignoreUnreadablePackets(
  client: Client,
  onUnreadable: (event: GatewayEvent, thrown: unknown) => void,
): void {
  const handle: unknown = Reflect.get(client.ws, 'handlePacket');
  if (typeof handle !== 'function') return;
  Reflect.defineProperty(client.ws, 'handlePacket', {
    // discord.js also calls this method without a packet in order to continue with queued packets.
    value: (packet: GatewayEvent | undefined, shard: unknown): unknown => {
      try {
        return handle.call(client.ws, packet, shard);
      } catch (thrown) {
        if (packet === undefined || SESSION_EVENTS.has(packet.t)) throw thrown;
        onUnreadable(packet, thrown);
        // discord.js parses a server's data again in order to count the available servers.
        if (packet.d == null) Reflect.set(packet, 'd', {});
        return true;
      }
    },
  });
}

/** Creates a client that caches neither people nor messages, because each event contains both. */
function createClient({ apiRoot, messageContent, shards }: DiscordSettings): Client {
  return new Client({
    intents: [
      GatewayIntentBits.Guilds,
      GatewayIntentBits.GuildMessages,
      GatewayIntentBits.GuildMessageReactions,
      GatewayIntentBits.DirectMessages,
      GatewayIntentBits.DirectMessageReactions,
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
    ws: { buildStrategy: (manager) => new StoppableSharding(manager) },
  });
}

function toConnectionClosure(thrown: unknown): ConnectionClosure {
  const failure = toCallFailure(thrown);
  const reason = reasonOf(thrown);
  return failure.kind === 'rate-limited'
    ? { reason, retryAfterMs: failure.retryAfterMs }
    : { reason };
}

/** The deadline (ms) for the close handshake, because a dead peer never responds. */
const CLOSE_WITHIN_MS = 2_000;
/** The close code with which Discord's own libraries keep the session resumable. */
const RESUMING = 4200;
/** The `readyState` of a closed connection. */
const CLOSED = 3;

/**
 * discord.js's sharding, with a `destroy` method that stops every shard. discord.js's own `destroy`
 * has two gaps: a shard that is waiting for its next attempt would continue. A connection that is
 * still being opened, or whose peer is dead, would stay open for half a minute.
 */
class StoppableSharding extends SimpleShardingStrategy {
  override async destroy(...options: Parameters<SimpleShardingStrategy['destroy']>): Promise<void> {
    const shards: unknown = Reflect.get(this, 'shards');
    const all: object[] = shards instanceof Map ? [...shards.values()] : [];
    for (const shard of all)
      Reflect.defineProperty(shard, 'internalConnect', { value: () => Promise.resolve() });
    const closed = new AbortController();
    const late = realEnv.wait(CLOSE_WITHIN_MS, closed.signal).then(() => terminateShards(all));
    // After a close with code 1000, the next process could not resume the session.
    await super.destroy({ ...options[0], code: RESUMING });
    closed.abort();
    await late;
  }
}

/** Terminates the connections that are still open. At this point, their errors have no listener. */
function terminateShards(shards: readonly object[]): void {
  for (const shard of shards) {
    const connection: unknown = Reflect.get(shard, 'connection');
    if (typeof connection !== 'object' || connection === null) continue;
    if (Reflect.get(connection, 'readyState') === CLOSED) continue;
    Reflect.set(connection, 'onerror', () => {});
    const end: unknown = Reflect.get(connection, 'terminate');
    if (typeof end === 'function') end.call(connection);
  }
}

/**
 * Runs a task once after `ms` without keeping the process alive; returns a function that cancels
 * it.
 */
export function startTimer(task: () => void, ms: number): () => void {
  const timer = setTimeout(guarded('timer', task), ms).unref();
  return () => clearTimeout(timer);
}

export type StartTimer = typeof startTimer;
