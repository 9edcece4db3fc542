import type { SimulationScene } from '../scene.ts';
import type { Simulation } from '../simulation.ts';
import type { ModelAnswer, ModelRequest } from '../world/model.ts';
import type { PlatformKind } from '../world/platform-kind.ts';
import { askAt, nameQuestions, type PersonChat, repeatAtRandom, WITHOUT_SKILLS } from './people.ts';

const GROUPS = ['g1', 'g2'];
const FRIENDS: PlatformKind = {
  ...{ id: 'friends', hasKeys: true, finds: false, groups: GROUPS, changes: true, streams: true },
  rates: { account: { burst: 30, everyMs: 34 }, group: { burst: 5, everyMs: 800 } },
};
const PLACES: readonly PersonChat[] = [
  { platform: 'friends', chat: '1' },
  { platform: 'friends', chat: '2' },
  ...GROUPS.map((chat): PersonChat => ({ platform: 'friends', chat, type: 'group' })),
];

/** The agent's changes to messages before it answers, by the last digit of the question. */
const ACTS = [
  { figure: /\bq\d*[05]\b/, name: 'react', arguments: { emoji: '👍' } },
  { figure: /\bq\d*3\b/, name: 'edit_message', arguments: { message: 1, text: 'It was wrong.' } },
  { figure: /\bq\d*7\b/, name: 'delete_message', arguments: { message: 1 } },
];

function answerRequest(request: ModelRequest): ModelAnswer {
  const last = request.messages.at(-1);
  const act = ACTS.find(({ figure, name }) => {
    return request.tools.includes(name) && figure.test(last?.text ?? '');
  });
  if (last?.role === 'user' && act !== undefined)
    return { calls: [{ name: act.name, arguments: act.arguments }] };
  return { text: nameQuestions(request) };
}

/** A person writes a group message that is meant for other people in the group. */
function writeRemark(simulation: Simulation, chat: string): void {
  const text = `c${simulation.remarks.length + 1}`;
  const id = simulation.platform('friends').write({
    chat: { id: chat, type: 'group' },
    sender: { id: `other-${chat}`, name: 'Somebody else', isBot: false },
    addressed: false,
    text: `Between us: ${text}`,
  });
  const place = { platform: 'friends', account: 'default', chat };
  simulation.remarks.push({ id, text, ...place, at: simulation.time.now });
}

/** People edit or delete a question just after they asked it. */
function maybeRevise(simulation: Simulation, id: string, number: number): void {
  const chance = simulation.chance(`revision ${number}`);
  if (!chance.happens(0.3)) return;
  const platform = simulation.platform('friends');
  const isDeleted = chance.happens(0.4);
  simulation.time.plan(chance.between(10, 1_500), () => {
    const question = simulation.questions.find((one) => one.id === id);
    if (question === undefined) return;
    if (!isDeleted) return platform.edit(id, `${question.text} e${number}`);
    question.isWithdrawn = true;
    platform.delete(id);
  });
}

/**
 * Groups with mentions and context, edited and deleted messages, reactions, and streamed answers.
 */
export const groups: SimulationScene = {
  name: 'groups',
  processes: { gateway: 'gateway', worker: 'worker' },
  platforms: [FRIENDS],
  settings: WITHOUT_SKILLS,
  faults: ['kill', 'restart', 'pause', 'wake-ups', 'sends', 'updates', 'model'],
  answer: answerRequest,
  people: (simulation) => {
    const chance = simulation.chance('people');
    repeatAtRandom(simulation, 'writing', [50, 2_500], () => {
      const id = askAt(simulation, chance.one(PLACES));
      maybeRevise(simulation, id, simulation.questions.length);
    });
    repeatAtRandom(simulation, 'remarks', [100, 2_500], () =>
      writeRemark(simulation, chance.one(GROUPS)),
    );
  },
};
