import { type DiscordDouble, startDiscordDouble } from '@parley/simulators/discord';
import { startTelegramDouble, type TelegramDouble } from '@parley/simulators/telegram';
import { type ModelDouble, startModelDouble } from '../model/index.ts';
import { answerTo, nameOf } from './model-words.ts';

/** When the servers and channels of the Discord double were made: their ids come from it, so that each run has the same. */
const DISCORD_BORN = Date.UTC(2026, 0, 1);

/** The platforms and the model around a Parley that makes a fixture, or finishes the work in one. */
export interface World {
  readonly telegram: TelegramDouble;
  readonly discord: DiscordDouble;
  /** Channels of Discord by what happens there. */
  readonly rooms: Readonly<Record<Room, string>>;
  readonly model: ModelDouble;
  /** Requests with these names (`nameOf`) are not answered. */
  readonly held: Set<string>;
  /** Settings with the addresses of the doubles in place of those that the fixture has. */
  fill(settings: string): string;
  close(): Promise<void>;
}

const ROOMS = ['busy', 'sending'] as const;
export type Room = (typeof ROOMS)[number];

/** Opens it. `clock`: what time it is for the platforms. A later world has the same ids of places, and remembers nothing of an earlier one. */
export async function openWorld(clock: () => number = Date.now): Promise<World> {
  let isBorn = false;
  const [telegram, discord, model] = await Promise.all([
    startTelegramDouble({ clock }),
    startDiscordDouble({ clock: () => (isBorn ? clock() : DISCORD_BORN) }),
    startModelDouble({ models: ['double', 'double-two'] }),
  ]);
  const rooms = Object.fromEntries(
    ROOMS.map((name) => [name, discord.addChannel(discord.guildId, name)]),
  ) as Record<Room, string>;
  isBorn = true;
  const held = new Set<string>();
  model.reply(async (request) => {
    if (held.has(nameOf(request))) await new Promise<never>(() => {});
    return answerTo(request);
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
