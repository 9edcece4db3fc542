import { turnsEndWithin } from '../invariants/turns.ts';
import type { Scene } from '../scene.ts';
import type { Simulation } from '../simulation.ts';
import type { ModelRequest } from '../world/model.ts';
import { edit, LEDGER, OWNERS_LEDGER } from './ledger.ts';
import { answerWith, direct, EMBEDDED, keepAsking, numberOf, turnIn } from './script.ts';

const KEYED = { id: 'keyed', hasKeys: true, finds: false };
const OWNER = '1';
/** A slow model that always answers before it would be abandoned. In ms. */
const THINK_MS = [8_000, 14_000] as const;
/**
 * The limit of a turn, the step during which it is reached, the answer that the model must give
 * then, and a margin.
 */
const MAX_TURN_MS = 60_000 + 2 * THINK_MS[1] + 2_000;

/** A model that keeps calling tools until it is forced to answer. */
function answer(request: ModelRequest) {
  const mustAnswer = request.body.includes('No more tools are run in this turn');
  const round = turnIn(request).rounds.length;
  return answerWith(request, (question) => {
    const isLong = numberOf(question) % 3 === 1;
    return mustAnswer || !isLong
      ? []
      : Array.from({ length: round + 1 }, (_, at) => [edit(`m${numberOf(question)}-${at}`)]);
  });
}

function people(simulation: Simulation): void {
  keepAsking(simulation, [5_000, 20_000], (question) => {
    simulation.ask('keyed', question, direct(OWNER), `${question} for the owner`);
  });
}

/** Turns that end only by their own time limit. */
export const rounds: Scene = {
  ...EMBEDDED,
  name: 'rounds',
  faults: [],
  platforms: [KEYED],
  settings: { owners: [`keyed:${OWNER}`], heartbeat: { enabled: false } },
  files: { [LEDGER]: OWNERS_LEDGER },
  thinkMs: THINK_MS,
  invariants: [turnsEndWithin(MAX_TURN_MS)],
  answer,
  people,
};
