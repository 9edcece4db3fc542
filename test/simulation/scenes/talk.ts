import type { Scene } from '../scene.ts';
import type { Simulation } from '../simulation.ts';
import type { ModelRequest } from '../world/model.ts';

const CHATS = ['1', '2', '3'];
const KEYED = { id: 'keyed', hasKeys: true, finds: false };

/** Names the questions of the last message, so that the answer can be told from all others. */
function answer({ messages }: ModelRequest) {
  // After an interruption something of Parley's own may follow the question.
  const last = messages.findLast(({ role, text }) => role === 'user' && /\bq\d+\b/.test(text));
  const asked = last?.text.match(/\bq\d+\b/g) ?? [];
  return { text: `This answers ${[...new Set(asked)].join(' and ')}.` };
}

/** People in a few direct chats ask one question after the other, faster than they are answered. */
function people(simulation: Simulation): void {
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
export const embedded: Scene = {
  name: 'embedded',
  processes: { parley: 'all' },
  platforms: [KEYED],
  faults: ['kill', 'restart', 'pause', 'clock', 'sends', 'updates', 'model'],
  answer,
  people,
};

/** A gateway and two workers on shared servers. */
export const shared: Scene = {
  name: 'shared',
  processes: { gateway: 'gateway', 'worker-1': 'worker', 'worker-2': 'worker' },
  platforms: [KEYED],
  faults: ['kill', 'restart', 'pause', 'wake-ups', 'queue-away', 'sends', 'updates', 'model'],
  answer,
  people,
};
