import type { SimulationScene } from '../scene.ts';
import type { Simulation } from '../simulation.ts';
import { SimulatedDiscord } from '../world/discord.ts';
import { nameQuestions, repeatAtRandom, WITHOUT_SKILLS } from './people.ts';

const PEOPLE = ['200000000000000501', '200000000000000502', '200000000000000503'];
const FIRST_STRANGER = 200000000000000600n;
/**
 * The time (ms) after the last pause when everybody writes once more, so that messages lost with a
 * session are fetched: Discord does not report a stranger's direct messages to later sessions.
 */
const LAST_WORD_MS = 30_000;

function askQuestion(
  simulation: Simulation,
  discord: SimulatedDiscord,
  chat: string,
  from: string,
): void {
  const text = `q${simulation.questions.length + 1}`;
  const isDirect = discord.world.channel(chat).guildId === undefined;
  const id = discord.say(chat, from, isDirect ? text : `${discord.mention} ${text}`);
  simulation.asked({ id, text, chat, platform: 'discord', account: 'default' });
}

function startPeople(simulation: Simulation): void {
  const discord = simulation.brought;
  if (!(discord instanceof SimulatedDiscord)) throw new Error('this scene is about Discord');
  const chance = simulation.chance('people');
  const channels = [discord.addChannel('news'), discord.addChannel('games')];
  const places = [
    ...channels.map((chat) => ({ chat, from: PEOPLE[0] ?? '' })),
    ...PEOPLE.map((from) => ({ chat: discord.directWith(from), from })),
  ];
  repeatAtRandom(simulation, 'writing', [50, 2_000], () => {
    const { chat, from } = chance.one(places);
    askQuestion(simulation, discord, chat, from);
  });
  repeatAtRandom(simulation, 'channels', [2_000, 9_000], () => {
    const chat = discord.addChannel(`topic-${places.length}`);
    places.push({ chat, from: chance.one(PEOPLE) });
    askQuestion(simulation, discord, chat, chance.one(PEOPLE));
  });
  // People who write directly for the first time; only the session open at that moment is notified.
  let strangers = 0;
  repeatAtRandom(simulation, 'strangers', [2_000, 8_000], () => {
    strangers += 1;
    const from = String(FIRST_STRANGER + BigInt(strangers));
    places.push({ chat: discord.directWith(from), from });
    askQuestion(simulation, discord, discord.directWith(from), from);
  });
  simulation.time.plan(simulation.span + LAST_WORD_MS, () => {
    for (const { chat, from } of places) askQuestion(simulation, discord, chat, from);
    discord.saysNoMore = true;
  });
}

const DISCORD = {
  platforms: [],
  settings: WITHOUT_SKILLS,
  answer: (request) => ({ text: nameQuestions(request) }),
  load: async () => {
    const { DefaultRestOptions } = await import('discord.js');
    const { WebSocket, socketsNow } = await import('../world/simulated-socket.ts');
    await import('../../../packages/channel-discord/src/adapter.ts');
    // Both are looked up when a client is created; after this point no request from discord.js
    // leaves the thread.
    const makeRequest = (url: string, init: RequestInit) => {
      socketsNow.server?.asked?.(init.method ?? 'GET', url);
      return globalThis.fetch(url, init);
    };
    Object.assign(DefaultRestOptions, { makeRequest });
    Object.assign(globalThis, { WebSocket });
  },
  bring: (simulation) => new SimulatedDiscord(simulation),
  people: startPeople,
} satisfies Partial<SimulationScene>;

/** The complete Discord adapter: gateway, sessions, missed messages and calls. */
export const discordAlone: SimulationScene = {
  ...DISCORD,
  name: 'discord',
  processes: { parley: 'all' },
  faults: ['kill', 'restart', 'pause', 'sends', 'updates'],
};

/** Two gateways share the bot: one is connected, the other takes over. */
export const discordShared: SimulationScene = {
  ...DISCORD,
  name: 'discord-shared',
  processes: { 'gateway-1': 'gateway', 'gateway-2': 'gateway', worker: 'worker' },
  faults: ['kill', 'restart', 'pause', 'wake-ups', 'sends', 'updates'],
};
