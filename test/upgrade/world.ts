import { type DiscordDouble, startDiscordDouble } from '@parley/simulators/discord';
import { startTelegramDouble, type TelegramDouble } from '@parley/simulators/telegram';
import { type ModelDouble, startModelDouble } from '../model/index.ts';
import { createReply, nameRequest } from './model-words.ts';

/**
 * The creation time of the Discord double's servers and channels: their ids derive from it, so each
 * run has the same ones.
 */
const DISCORD_BORN = Date.UTC(2026, 0, 1);

/** The platforms and the model around a Parley that makes a fixture or finishes the work in one. */
export interface FixtureWorld {
  readonly telegram: TelegramDouble;
  readonly discord: DiscordDouble;
  /** Discord channels by their purpose. */
  readonly rooms: Readonly<Record<DiscordRoom, string>>;
  readonly model: ModelDouble;
  /** Names of requests (`nameOf`) that are not answered. */
  readonly held: Set<string>;
  /** The settings with the addresses of the doubles. */
  fill(settings: string): string;
  close(): Promise<void>;
}

const ROOMS = ['busy', 'sending'] as const;
export type DiscordRoom = (typeof ROOMS)[number];

/**
 * `clock` is the time of the platforms. A later world has the same chat ids, but no memory of an
 * earlier one.
 */
export async function openWorld(clock: () => number = Date.now): Promise<FixtureWorld> {
  let isBorn = false;
  const [telegram, discord, model] = await Promise.all([
    startTelegramDouble({ clock }),
    startDiscordDouble({ clock: () => (isBorn ? clock() : DISCORD_BORN) }),
    startModelDouble({ models: ['double', 'double-two'] }),
  ]);
  const rooms = Object.fromEntries(
    ROOMS.map((name) => [name, discord.addChannel(discord.guildId, name)]),
  ) as Record<DiscordRoom, string>;
  isBorn = true;
  const held = new Set<string>();
  model.reply(async (request) => {
    if (held.has(nameRequest(request))) await new Promise<never>(() => {});
    return createReply(request);
  });
  const addresses = {
    'http://telegram.invalid': telegram.apiRoot,
    'http://discord.invalid': discord.apiRoot,
    'http://model.invalid': model.baseUrl,
    'token-of-telegram': telegram.token,
    'token-of-discord': discord.token,
  };
  return {
    telegram,
    discord,
    rooms,
    model,
    held,
    fill: (settings) =>
      Object.entries(addresses).reduce((text, [name, at]) => text.replaceAll(name, at), settings),
    close: async () => {
      await Promise.all([telegram.close(), discord.close(), model.close()]);
    },
  };
}
