import type { SimulationScene } from '../scene.ts';
import type { Simulation } from '../simulation.ts';
import type { ModelRequest } from '../world/model.ts';
import { makeOldDatabase } from '../world/older-database.ts';
import { WITHOUT_SKILLS } from './people.ts';

const KEYED = { id: 'keyed', hasKeys: true, finds: false };
const CODE = 'ABC234';
/** Older questions have smaller numbers. */
const FIRST_NEW = 10;

/**
 * Names the questions since the last answer, because a resumed turn ends with the result of a tool.
 */
function answerRequest({ messages }: ModelRequest) {
  const last = messages.findLastIndex(({ role, text }) => role === 'assistant' && text !== '');
  const since = messages.slice(last + 1).map(({ text }) => text);
  const asked = since.join(' ').match(/\bq\d+\b/g) ?? [];
  return { text: `This answers ${[...new Set(asked)].join(' and ')}.` };
}

const OLD = [
  { id: 'old1', chat: 'waits', text: 'q1' },
  { id: 'old2', chat: 'waits', text: 'q2' },
  { id: 'old3', chat: 'runs', text: 'q3' },
  { id: 'old4', chat: 'asks', text: 'q4' },
  { id: 'old5', chat: 'unsent', text: 'q5' },
  { id: 'old6', chat: 'sending', text: 'q6' },
] as const;

function prepareDatabase(simulation: Simulation): void {
  const { databaseFile, time, questions } = simulation;
  const [first, second, running, suspended, unsent, sending] = OLD;
  const unfinished = {
    ...{ channel: KEYED.id, waiting: [first, second], running },
    suspended: { ...suspended, code: CODE },
    unsent: { ...unsent, answer: 'This answers q5.' },
    sending: { ...sending, answer: 'This answers q6.' },
  };
  makeOldDatabase(databaseFile, unfinished, time.wallClock());
  for (const old of OLD)
    questions.push({ ...old, platform: KEYED.id, account: 'default', at: time.now });
}

/**
 * People in these chats and in a new chat ask more questions, and one person decides the approval
 * requested by the old Parley.
 */
function startPeople(simulation: Simulation): void {
  const { time, span } = simulation;
  const chance = simulation.chance('people');
  const write = (chat: string, text: string): void => {
    const message = {
      chat: { id: chat, type: 'direct' as const },
      sender: { id: chat, name: `Person ${chat}`, isBot: false },
      addressed: true,
    };
    if (text.startsWith('/')) simulation.platforms.get(KEYED.id)?.write({ ...message, text });
    else simulation.ask(KEYED.id, text, message);
  };
  time.plan(chance.between(1_000, 40_000), () => write('asks', `/approve ${CODE}`));
  const chats = [...new Set(OLD.map(({ chat }) => chat)), 'new'];
  let asked = FIRST_NEW;
  const next = (): void => {
    time.plan(chance.between(50, 6_000), () => {
      if (time.now > span) return;
      asked += 1;
      write(chance.one(chats), `q${asked}`);
      next();
    });
  };
  next();
}

/**
 * The first start on a database from version 0.1.0, which was killed while working; the start is
 * killed, too.
 */
export const upgrade: SimulationScene = {
  name: 'upgrade',
  processes: { parley: 'all' },
  platforms: [KEYED],
  faults: ['kill', 'restart', 'power-cut', 'sends'],
  settings: { owners: ['keyed:asks'], ...WITHOUT_SKILLS },
  interruptsStart: true,
  prepare: prepareDatabase,
  answer: answerRequest,
  people: startPeople,
};
