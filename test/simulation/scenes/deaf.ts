import { createAnswerTimeInvariant } from '../invariants/bounds.ts';
import type { SimulationScene } from '../scene.ts';
import type { Simulation } from '../simulation.ts';
import type { ModelRequest } from '../world/model.ts';
import { createEditCall, LEDGER, OWNERS_LEDGER } from './ledger.ts';
import {
  answerWithCalls,
  createDirectOrigin,
  EMBEDDED,
  getQuestionNumber,
  readCurrentTurn,
} from './script.ts';

const KEYED = { id: 'keyed', hasKeys: true, finds: false };
const OWNER = '1';
/** How long a file read by a turn does not respond, in ms. */
const DEAF_MS = 60_000;
/** A question asked after such a turn was stopped is answered within this time, in ms. */
const ANSWERED_MS = 20_000;

const isDeaf = (question: string): boolean => getQuestionNumber(question) % 2 === 1;

/** Every second turn reads a file that does not respond and cannot be interrupted by a signal. */
function answerRequest(request: ModelRequest, simulation: Simulation) {
  const { questions, rounds } = readCurrentTurn(request);
  if (questions.some(isDeaf) && rounds.length === 0) {
    simulation.slowFiles.delayNext(LEDGER, DEAF_MS);
  }
  return answerWithCalls(request, (question) =>
    isDeaf(question) ? [[createEditCall(`m${question}`)]] : [],
  );
}

/** A person asks, stops the hanging turn, and asks something else. */
function startPeople(simulation: Simulation): void {
  const { time, span } = simulation;
  const chance = simulation.chance('people');
  let asked = 0;
  const ask = (): void => {
    asked += 1;
    simulation.ask('keyed', `q${asked}`, createDirectOrigin(OWNER), `q${asked} for the owner`);
  };
  const next = (): void => {
    if (time.now > span) return;
    ask();
    const stopMs = chance.between(4_000, 8_000);
    time.plan(stopMs, () => {
      simulation.say('keyed', '/stop', createDirectOrigin(OWNER));
      const stopped = simulation.questions.at(-1);
      if (stopped !== undefined) stopped.isWithdrawn = true;
    });
    time.plan(stopMs + chance.between(1_500, 4_000), ask);
    time.plan(stopMs + chance.between(15_000, 30_000), next);
  };
  time.plan(chance.between(500, 2_000), next);
}

/** A stopped turn that does not end does not block other work. */
export const deaf: SimulationScene = {
  ...EMBEDDED,
  name: 'deaf',
  faults: [],
  platforms: [KEYED],
  settings: { owners: [`keyed:${OWNER}`], heartbeat: { enabled: false } },
  files: { [LEDGER]: OWNERS_LEDGER },
  invariants: [createAnswerTimeInvariant(ANSWERED_MS)],
  answer: answerRequest,
  people: startPeople,
};
