import { planFaults } from '../faults.ts';
import type { SimulationScene } from '../scene.ts';
import type { Simulation } from '../simulation.ts';
import { SimulatedDiscord } from '../world/discord.ts';
import { discordShared } from './discord.ts';
import { repeatAtRandom } from './people.ts';

const [CHANNELS, DIRECT] = [12, 3];
const FIRST_PERSON = 200000000000000700n;
/** By this time (ms) everybody has written once and got an answer; the first fault comes later. */
const KNOWN_MS = 20_000;
const SPAN_MS = 90_000;
const PROCESSES = ['gateway-1', 'gateway-2', 'worker'];

/**
 * As in the crash matrix, there is one person per channel, who writes once before the first fault.
 */
function startPeople(simulation: Simulation): void {
  const { brought: discord, time } = simulation;
  if (!(discord instanceof SimulatedDiscord)) throw new Error('this scene is about Discord');
  const chance = simulation.chance('people');
  const persons = Array.from(
    { length: CHANNELS + DIRECT },
    (_, nth) => `${FIRST_PERSON + BigInt(nth)}`,
  );
  const rooms = persons.map((from, nth) => ({
    from,
    isDirect: nth >= CHANNELS,
    chat: nth >= CHANNELS ? discord.directWith(from) : discord.addChannel(`room-${nth}`),
  }));
  const ask = ({ chat, from, isDirect }: (typeof rooms)[number]): void => {
    const text = `q${simulation.questions.length + 1}`;
    const id = discord.say(chat, from, isDirect ? text : `${discord.mention} ${text}`);
    simulation.asked({ id, text, chat, platform: 'discord', account: 'default' });
  };
  for (const [nth, room] of rooms.entries()) time.plan(100 + nth * 200, () => ask(room));
  time.plan(KNOWN_MS, () => {
    repeatAtRandom(simulation, 'writing', [20, 1_000], () => {
      const room = chance.one(rooms);
      for (let left = Math.floor(chance.between(1, 4)); left > 0; left -= 1) ask(room);
    });
  });
  time.plan(SPAN_MS, () => {
    discord.saysNoMore = true;
  });
}

/** The faults of the crash matrix for Discord, on a machine that is fifteen times as slow. */
export const discordCrash: SimulationScene = {
  ...discordShared,
  name: 'discord-crash',
  processes: { 'gateway-1': 'gateway', 'gateway-2': 'gateway', worker: 'worker' },
  spanMs: SPAN_MS,
  faults: ['kill', 'database-slow'],
  plan: (chance) =>
    planFaults(chance, {
      kinds: ['kill', 'kill', 'database-slow', 'database-slow', 'database-slow'],
      processes: PROCESSES,
      forMs: SPAN_MS,
    }).filter(({ at }) => at > KNOWN_MS),
  people: startPeople,
};
