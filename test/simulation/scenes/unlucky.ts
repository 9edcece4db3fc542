import { killsTheUnlucky, nothingGivenUpSilently, UNLUCKY } from '../invariants/unlucky.ts';
import type { SimulationScene } from '../scene.ts';
import type { Simulation } from '../simulation.ts';
import { createDirectOrigin, EMBEDDED, keepAsking, SHARED } from './script.ts';
import { answerRequest } from './talk.ts';

const KEYED = { id: 'keyed', hasKeys: true, finds: false };
/**
 * In one chat a person asks one question, then several in a row while it is being answered, and
 * sometimes one at the end.
 */
const IN_A_ROW = 4;

function startPeople(simulation: Simulation): void {
  const { time, span } = simulation;
  const chance = simulation.chance('unlucky');
  keepAsking(simulation, [200, 4_000], (question) => {
    simulation.ask('keyed', question, createDirectOrigin(chance.one(['1', '2'])));
  });
  let asked = 1_000;
  const ask = (): void => {
    asked += 1;
    simulation.ask('keyed', `q${asked}`, createDirectOrigin(UNLUCKY));
  };
  const at = chance.between(1_000, 20_000);
  time.plan(at, ask);
  for (let row = 0; row < IN_A_ROW; row += 1) time.plan(at + 150 + row * 20, ask);
  // The next request to the model includes the unanswered questions.
  if (chance.happens(0.5)) time.plan(span, ask);
}

const SCENE = {
  platforms: [KEYED],
  faults: [],
  invariants: [killsTheUnlucky, nothingGivenUpSilently],
  answer: answerRequest,
  people: startPeople,
} as const satisfies Partial<SimulationScene>;

/** Each process that works on one particular turn is killed, until Parley gives up that turn. */
export const unluckyEmbedded: SimulationScene = { ...EMBEDDED, ...SCENE, name: 'unlucky-embedded' };
export const unluckyShared: SimulationScene = { ...SHARED, ...SCENE, name: 'unlucky-shared' };
