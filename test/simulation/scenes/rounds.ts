import { createTurnTimeInvariant } from '../invariants/turns.ts';
import type { SimulationScene } from '../scene.ts';
import type { Simulation } from '../simulation.ts';
import type { ModelRequest } from '../world/model.ts';
import { createEditCall, LEDGER, OWNERS_LEDGER } from './ledger.ts';
import {
  answerWithCalls,
  createDirectOrigin,
  EMBEDDED,
  getQuestionNumber,
  keepAsking,
  readCurrentTurn,
} from './script.ts';

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
function answerRequest(request: ModelRequest) {
  const mustAnswer = request.body.includes('No more tools are run in this turn');
  const round = readCurrentTurn(request).rounds.length;
  return answerWithCalls(request, (question) => {
    const isLong = getQuestionNumber(question) % 3 === 1;
    return mustAnswer || !isLong
      ? []
      : Array.from({ length: round + 1 }, (_, at) => [
          createEditCall(`m${getQuestionNumber(question)}-${at}`),
        ]);
  });
}

function startPeople(simulation: Simulation): void {
  keepAsking(simulation, [5_000, 20_000], (question) => {
    simulation.ask('keyed', question, createDirectOrigin(OWNER), `${question} for the owner`);
  });
}

/** Turns that end only by their own time limit. */
export const rounds: SimulationScene = {
  ...EMBEDDED,
  name: 'rounds',
  faults: [],
  platforms: [KEYED],
  settings: { owners: [`keyed:${OWNER}`], heartbeat: { enabled: false } },
  files: { [LEDGER]: OWNERS_LEDGER },
  thinkMs: THINK_MS,
  invariants: [createTurnTimeInvariant(MAX_TURN_MS)],
  answer: answerRequest,
  people: startPeople,
};
