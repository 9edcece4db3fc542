import {
  Client,
  Events,
  GatewayIntentBits,
  type Message,
  Partials,
  type TextChannel,
} from 'discord.js';
import type { DiscordDouble, DiscordDoubleOptions } from '../discord-double.ts';
import { startDiscordDouble } from '../start-discord-double.ts';

const running: (() => Promise<void>)[] = [];

/** The default intents of the bots in tests. */
const ALL_INTENTS = [
  GatewayIntentBits.Guilds,
  GatewayIntentBits.GuildMembers,
  GatewayIntentBits.GuildMessages,
  GatewayIntentBits.GuildMessageReactions,
  GatewayIntentBits.GuildMessageTyping,
  GatewayIntentBits.DirectMessages,
  GatewayIntentBits.DirectMessageReactions,
  GatewayIntentBits.MessageContent,
];

/** A double with a real, connected discord.js client; `heard` collects the received messages. */
export interface TestStage {
  readonly double: DiscordDouble;
  readonly client: Client<true>;
  readonly channel: TextChannel;
  readonly heard: Message[];
  /** Waits until discord.js has received this many messages from others. */
  hears(count: number): Promise<Message[]>;
}

/** Creates a client for a double, without logging in. */
export function createClient(double: DiscordDouble, intents = ALL_INTENTS): Client {
  const client = new Client({
    intents,
    partials: [Partials.Channel, Partials.Message, Partials.Reaction],
    rest: { api: double.apiRoot, retries: 3, timeout: 5000 },
  });
  running.push(() => client.destroy());
  return client;
}

export async function startDiscordTestDouble(
  options: DiscordDoubleOptions = {},
): Promise<DiscordDouble> {
  const double = await startDiscordDouble(options);
  running.push(() => double.close());
  return double;
}

/** Starts a double and a client, and waits until the client is ready. */
export async function startStage(
  options: DiscordDoubleOptions = {},
  intents = ALL_INTENTS,
): Promise<TestStage> {
  const double = await startDiscordTestDouble(options);
  const client = createClient(double, intents);
  const heard: Message[] = [];
  client.on(Events.MessageCreate, (message) => {
    if (message.author.id === double.me.id) return;
    heard.push(message);
    double.transcript.changes.changed();
  });
  const ready = new Promise<Client<true>>((resolve) => client.once(Events.ClientReady, resolve));
  await client.login(double.token);
  const channel = (await ready).channels.cache.get(double.channelId);
  if (channel?.isTextBased() !== true || channel.isDMBased()) throw new Error('No text channel');
  return {
    double,
    client: await ready,
    channel: channel as TextChannel,
    heard,
    hears: (count) => double.waitFor(() => heard.length >= count && heard),
  };
}

/** Destroys the clients before their doubles. */
export async function stopStages(): Promise<void> {
  for (const end of running.splice(0).reverse()) await end();
}
