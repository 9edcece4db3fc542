import type { SimulationScene } from '../scene.ts';
import type { PlatformKind } from '../world/platform-kind.ts';
import { askAt, nameQuestions, type PersonChat, repeatAtRandom, WITHOUT_SKILLS } from './people.ts';

const ACCOUNTS = ['one', 'two', 'three'];
const KINDS: readonly PlatformKind[] = [
  { id: 'keyed', hasKeys: true, finds: false, accounts: ACCOUNTS, streams: true },
  { id: 'plain', hasKeys: false, finds: true, accounts: ['one', 'two'] },
];
const PLACES: readonly PersonChat[] = KINDS.flatMap(({ id: platform, accounts = [] }) =>
  accounts.flatMap((account) => ['1', '2'].map((chat) => ({ platform, account, chat }))),
);

/** Two gateways share five accounts on two platforms. */
export const gateways: SimulationScene = {
  name: 'gateways',
  processes: { 'gateway-1': 'gateway', 'gateway-2': 'gateway', worker: 'worker' },
  platforms: KINDS,
  settings: WITHOUT_SKILLS,
  calmMs: 45_000,
  faults: ['kill', 'restart', 'pause', 'wake-ups', 'sends', 'updates'],
  answer: (request) => ({ text: nameQuestions(request) }),
  people: (simulation) => {
    const chance = simulation.chance('people');
    repeatAtRandom(simulation, 'writing', [50, 2_000], () => askAt(simulation, chance.one(PLACES)));
  },
};
