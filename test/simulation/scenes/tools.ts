import { askedOnce, callsOnce, stepsByHolder } from '../invariants/calls.ts';
import { effectsOnce } from '../invariants/effects.ts';
import { givenUp } from '../invariants/fatal.ts';
import type { SimulationScene } from '../scene.ts';
import type { Simulation } from '../simulation.ts';
import type { ModelRequest } from '../world/model.ts';
import { killsAtTools } from './kills-at-tools.ts';
import { createEditCall, createTodoCall, LEDGER, OWNERS_LEDGER } from './ledger.ts';
import {
  answerWithCalls,
  createDirectOrigin,
  EMBEDDED,
  getLastPersonText,
  getQuestionNumber,
  keepAsking,
  type ScriptedCall,
  SHARED,
} from './script.ts';

const KEYED = { id: 'keyed', hasKeys: true, finds: false };
const OTHER = { id: 'other', hasKeys: true, finds: false };
const OWNER = '1';
const GUEST = '2';
/**
 * The last digit of a question that is asked once and kills each process that asks the model about
 * it.
 */
const FATAL = '9';

/** The calls that an owner's question leads to, by rounds; marks are unique in the simulation. */
function createOwnerCalls(question: string): readonly (readonly ScriptedCall[])[] {
  const number = getQuestionNumber(question);
  const now = { name: 'current_time', arguments: {} };
  switch (number % 5) {
    case 1:
      return [
        [createEditCall(`m${number}-0-0`), createEditCall(`m${number}-0-1`)],
        [createEditCall(`m${number}-1-0`)],
      ];
    case 2:
      return [[createTodoCall(`m${number}-0-0`), now], [createEditCall(`m${number}-1-0`)]];
    case 3:
      return [[{ name: 'message', arguments: { to: 'owner', text: `This is note${number}.` } }]];
    case 4:
      return [[now], [createTodoCall(`m${number}-1-0`)], [createEditCall(`m${number}-2-0`)]];
    default:
      return [];
  }
}

function createGuestCalls(question: string): readonly (readonly ScriptedCall[])[] {
  const number = getQuestionNumber(question);
  return number % 2 === 0 ? [] : [[createTodoCall(`m${number}-0-0`)]];
}

function answerRequest(request: ModelRequest, simulation: Simulation) {
  const said = getLastPersonText(request);
  if (said.includes('fatal')) {
    const [name = ''] = simulation.time.process?.name.split('.') ?? [];
    simulation.supervisor.killAfter(name, 0, 500);
  }
  const calls = said.includes('for the owner') ? createOwnerCalls : createGuestCalls;
  return answerWithCalls(request, calls);
}

function startPeople(simulation: Simulation): void {
  const chance = simulation.chance('chats');
  const fatalAt = chance.happens(0.4) ? Math.floor(chance.between(3, 20)) : null;
  keepAsking(simulation, [50, 3_000], (question) => {
    if (getQuestionNumber(question) === fatalAt) {
      simulation.ask('keyed', question, createDirectOrigin(FATAL), `${question}, which is fatal`);
      return;
    }
    const number = chance.next();
    if (number < 0.3)
      simulation.ask('keyed', question, createDirectOrigin(GUEST), `${question} of a guest`);
    else {
      const platform = number < 0.7 ? 'keyed' : 'other';
      simulation.ask(platform, question, createDirectOrigin(OWNER), `${question} for the owner`);
    }
  });
}

const SCENE = {
  platforms: [KEYED, OTHER],
  settings: {
    owners: [`keyed:${OWNER}`, `other:${OWNER}`],
    heartbeat: { enabled: false },
  },
  files: { [LEDGER]: OWNERS_LEDGER },
  invariants: [killsAtTools, callsOnce, askedOnce, stepsByHolder, effectsOnce, givenUp],
  answer: answerRequest,
  people: startPeople,
} as const satisfies Partial<SimulationScene>;

/** The model calls tools with side effects, and processes are killed at any step. */
export const toolsEmbedded: SimulationScene = { ...EMBEDDED, ...SCENE, name: 'tools-embedded' };
export const toolsShared: SimulationScene = { ...SHARED, ...SCENE, name: 'tools-shared' };
