import { collectsAll, pausesToCollect } from '../invariants/collected.ts';
import type { SimulationScene } from '../scene.ts';
import type { Simulation } from '../simulation.ts';
import type { ModelRequest } from '../world/model.ts';

const CHATS = ['1', '2', '3'];
const KEYED = { id: 'keyed', hasKeys: true, finds: false };

/**
 * Names the latest questions, so that the answer can be told apart from all other answers. After a
 * truncated answer, the request to continue is the last message, and the questions come before it.
 */
export function answerRequest({ messages }: ModelRequest) {
  const questions = messages.map(({ role, text }) =>
    role === 'user' ? (text.match(/\bq\d+\b/g) ?? []) : [],
  );
  const last = questions.findLast((asked) => asked.length > 0) ?? [];
  return { text: `This answers ${[...new Set(last)].join(' and ')}.` };
}

/** People in a few direct chats who ask questions faster than they are answered. */
export function startPeople(simulation: Simulation): void {
  const { time, span } = simulation;
  const chance = simulation.chance('people');
  let asked = 0;
  const next = (): void => {
    time.plan(chance.between(50, 2_500), () => {
      if (time.now > span) return;
      asked += 1;
      const id = chance.one(CHATS);
      simulation.ask('keyed', `q${asked}`, {
        chat: { id, type: 'direct' },
        sender: { id, name: `Person ${id}`, isBot: false },
        addressed: true,
      });
      next();
    });
  };
  next();
}

/** Everything in one process, as `parley start` runs it. */
export const embedded: SimulationScene = {
  name: 'embedded',
  processes: { parley: 'all' },
  platforms: [KEYED],
  faults: ['kill', 'restart', 'pause', 'clock', 'sends', 'updates', 'model'],
  invariants: [collectsAll],
  answer: answerRequest,
  people: startPeople,
};

/** A gateway and two workers on shared servers. */
export const shared: SimulationScene = {
  name: 'shared',
  processes: { gateway: 'gateway', 'worker-1': 'worker', 'worker-2': 'worker' },
  platforms: [KEYED],
  faults: ['kill', 'restart', 'pause', 'wake-ups', 'queue-away', 'sends', 'updates', 'model'],
  invariants: [collectsAll, pausesToCollect],
  answer: answerRequest,
  people: startPeople,
};
