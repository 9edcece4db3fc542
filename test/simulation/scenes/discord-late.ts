import { oneGatewayCalls } from '../invariants/discord-calls.ts';
import type { SimulationScene } from '../scene.ts';
import { discordAlone, discordShared } from './discord.ts';
import { nameQuestions } from './people.ts';

/** Precedes the end of an answer, so that the answer is long enough to be streamed. */
const PREAMBLE =
  'This is a long story, and many words of it come before the end, so that there is something to see while it is written.';

/**
 * A gateway that loses the bot while it streams an answer, or waits for a rate limit, does not send
 * further requests to Discord.
 */
export const discordLate: SimulationScene = {
  ...discordShared,
  name: 'discord-late',
  faults: ['overtaken', 'pause', 'sends'],
  thinkMs: [2_000, 12_000],
  invariants: [oneGatewayCalls],
  answer: (request) => ({ text: `${PREAMBLE} ${nameQuestions(request)}` }),
};

/**
 * Messages that temporarily cannot be stored while other messages can, and a process that is killed
 * in the meantime.
 */
export const discordRefused: SimulationScene = {
  ...discordAlone,
  name: 'discord-refused',
  faults: ['kill', 'kill', 'database-refuses', 'database-refuses'],
};
