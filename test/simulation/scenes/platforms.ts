import type { SimulationScene } from '../scene.ts';
import type { PlatformKind } from '../world/platform-kind.ts';
import {
  askAt,
  createLongAnswer,
  nameQuestions,
  type PersonChat,
  repeatAtRandom,
} from './people.ts';

const SHORT = 60;

/** Platforms that cannot tell a repeated send from a new one. */
const WITHOUT_KEYS: readonly PlatformKind[] = [
  { id: 'plain', hasKeys: false, finds: false, maxLength: SHORT },
  { id: 'finder', hasKeys: false, finds: true, maxLength: SHORT },
  { id: 'noting', hasKeys: false, finds: true, reportsStart: true, maxLength: SHORT },
  { id: 'again', hasKeys: false, finds: false, whenUncertain: 'resend' },
];

function listPersonChats(
  kinds: readonly PlatformKind[],
  chats: readonly string[],
): readonly PersonChat[] {
  return kinds.flatMap(({ id: platform, groups = [] }) => [
    ...chats.map((chat) => ({ platform, chat })),
    ...groups.map((chat) => ({ platform, chat, type: 'group' as const })),
  ]);
}

/** Uncertain outcomes are reported and do not cause duplicates. */
export const uncertain: SimulationScene = {
  name: 'uncertain',
  processes: { parley: 'all' },
  platforms: WITHOUT_KEYS,
  faults: ['kill', 'restart', 'pause', 'sends', 'updates'],
  answer: createLongAnswer,
  people: (simulation) => {
    const chance = simulation.chance('people');
    const all = listPersonChats(WITHOUT_KEYS, ['1', '2']);
    repeatAtRandom(simulation, 'writing', [50, 2_000], () => askAt(simulation, chance.one(all)));
  },
};

/**
 * Platforms that remember keys only for a while, have strict limits, and permanently refuse some
 * messages.
 */
const STRICT: readonly PlatformKind[] = [
  {
    ...{ id: 'brief', hasKeys: true, finds: false, keysForMs: 10_000, maxLength: SHORT },
    rates: { account: { burst: 3, everyMs: 250 }, direct: { burst: 2, everyMs: 900 } },
    enforced: { account: { burst: 4, everyMs: 250 }, chat: { burst: 3, everyMs: 900 } },
  },
  {
    ...{ id: 'refusing', hasKeys: true, finds: false, refuses: true, maxLength: SHORT },
    rates: { direct: { burst: 1, everyMs: 700 } },
  },
];

/**
 * Sends never exceed the declared rates, no message is sent to people who closed the chat, and the
 * agent is notified.
 */
export const limits: SimulationScene = {
  name: 'limits',
  processes: { parley: 'all' },
  platforms: STRICT,
  faults: ['kill', 'restart', 'pause', 'sends', 'updates'],
  answer: createLongAnswer,
  people: (simulation) => {
    const chance = simulation.chance('people');
    const all = listPersonChats(STRICT, ['1', '2', '3']);
    repeatAtRandom(simulation, 'writing', [50, 1_800], () => askAt(simulation, chance.one(all)));
  },
};

const SLOW: PlatformKind = {
  ...{ id: 'slow', hasKeys: true, finds: false, slowChats: ['1'] },
  rates: { account: { burst: 10, everyMs: 100 }, direct: { burst: 3, everyMs: 500 } },
};

/** A chat in which each message takes many seconds does not delay other chats. */
export const slow: SimulationScene = {
  name: 'slow',
  processes: { parley: 'all' },
  platforms: [SLOW],
  faults: [],
  answer: (request) => ({ text: nameQuestions(request) }),
  people: (simulation) => {
    const chance = simulation.chance('people');
    const all = listPersonChats([SLOW], ['1', '2', '3', '4', '5', '6']);
    repeatAtRandom(simulation, 'writing', [50, 1_200], () => askAt(simulation, chance.one(all)));
  },
};
