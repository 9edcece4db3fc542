import type { SimulationScene } from '../scene.ts';
import type { PlatformKind } from '../world/platform-kind.ts';
import { askAt, nameQuestions, repeatAtRandom } from './people.ts';

const CHATS = ['1', '2', '3'];
const SLOW: PlatformKind = { id: 'plain', hasKeys: false, finds: false, slowChats: CHATS };

/**
 * Sends that take many seconds and have an uncertain outcome, while the chat's next answer is
 * ready.
 */
export const giveUps: SimulationScene = {
  name: 'give-ups',
  processes: { parley: 'all' },
  platforms: [SLOW],
  faults: ['sends'],
  answer: (request) => ({ text: nameQuestions(request) }),
  people: (simulation) => {
    const chance = simulation.chance('people');
    repeatAtRandom(simulation, 'writing', [500, 3_000], () => {
      askAt(simulation, { platform: 'plain', chat: chance.one(CHATS) });
    });
  },
};
