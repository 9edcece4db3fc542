import { approvedFirst, findApprovalCode } from '../invariants/approvals.ts';
import { callsOnce, stepsByHolder } from '../invariants/calls.ts';
import { effectsOnce } from '../invariants/effects.ts';
import type { SimulationScene } from '../scene.ts';
import type { Simulation } from '../simulation.ts';
import type { ModelRequest } from '../world/model.ts';
import type { DisplayedMessage } from '../world/platform.ts';
import { createEditCall, createTodoCall, LEDGER, OWNERS_LEDGER } from './ledger.ts';
import {
  answerWithCalls,
  createDirectOrigin,
  createGroupOrigin,
  EMBEDDED,
  getLastPersonText,
  getQuestionNumber,
  keepAsking,
  SHARED,
} from './script.ts';

const KEYED = { id: 'keyed', hasKeys: true, finds: false };
const OWNER = '1';
const GUEST = '2';
const GROUP = 'g';
/** How long a question waits for a decision, in ms. */
const WAIT_MS = 8_000;

function answerRequest(request: ModelRequest) {
  const isOwners = getLastPersonText(request).includes('for the owner');
  return answerWithCalls(request, (question) => {
    const number = getQuestionNumber(question);
    if (number % 3 === 0) return [];
    const mark = `m${number}-0-0`;
    return isOwners && number % 3 === 1 ? [[createEditCall(mark)]] : [[createTodoCall(mark)]];
  });
}

/** The owner asks in a direct chat, a guest in another direct chat, and both in a group. */
function startPeople(simulation: Simulation): void {
  const chance = simulation.chance('chats');
  keepAsking(simulation, [1_000, 8_000], (question) => {
    const number = chance.next();
    if (number < 0.5)
      simulation.ask('keyed', question, createDirectOrigin(OWNER), `${question} for the owner`);
    else if (number < 0.75) simulation.ask('keyed', question, createDirectOrigin(GUEST));
    else simulation.ask('keyed', question, createGroupOrigin(GROUP, chance.one([OWNER, GUEST])));
  });
}

/** People's reactions to an approval request: who writes which text at what time. */
type ApprovalReaction = readonly {
  readonly by: string;
  readonly says: string;
  readonly afterMs: number;
}[];

function chooseReaction(simulation: Simulation, code: string): ApprovalReaction {
  const chance = simulation.chance(`decision ${code}`);
  const soon = chance.between(300, 4_000);
  const number = chance.next();
  const yes = { by: OWNER, says: `/approve ${code}`, afterMs: soon };
  const stranger = { by: GUEST, says: `/approve ${code}`, afterMs: soon / 2 };
  if (number < 0.35) return [yes];
  if (number < 0.45) return [yes, { ...yes, afterMs: soon + chance.between(1, 2_000) }];
  if (number < 0.55) return [{ ...yes, says: 'yes' }];
  if (number < 0.65) return [{ ...yes, afterMs: WAIT_MS + chance.between(-500, 4_000) }];
  if (number < 0.75)
    return [
      { ...yes, says: `/deny ${code}` },
      { ...yes, afterMs: soon + 500 },
    ];
  if (number < 0.85) return [stranger];
  if (number < 0.92) return [stranger, { ...yes, afterMs: soon + 500 }];
  return [];
}

/**
 * Either somebody decides, or the request expires. A stranger who has seen the code types it in
 * another chat. A list of open questions contains codes as well, but answering each of them would
 * lead to the next list.
 */
function reactToMessage(
  { chat, text }: DisplayedMessage,
  platform: string,
  simulation: Simulation,
): void {
  const code = findApprovalCode(text);
  if (code === undefined) return;
  for (const { by, says, afterMs } of chooseReaction(simulation, code)) {
    const place = chat === GROUP ? createGroupOrigin(GROUP, by) : createDirectOrigin(by);
    simulation.time.plan(afterMs, () => void simulation.say(platform, says, place));
  }
}

const SCENE = {
  platforms: [KEYED],
  settings: {
    owners: [`keyed:${OWNER}`],
    approvals: { ask: ['edit', 'write_todos'], waitMinutes: WAIT_MS / 60_000 },
    channels: { keyed: { access: { direct: 'open', groups: 'open' } } },
    heartbeat: { enabled: false },
  },
  files: { [LEDGER]: OWNERS_LEDGER },
  invariants: [callsOnce, stepsByHolder, effectsOnce, approvedFirst],
  answer: answerRequest,
  people: startPeople,
  seen: reactToMessage,
} as const satisfies Partial<SimulationScene>;

/** Calls wait for an approval that comes immediately, late, twice, from a stranger, or never. */
export const approvalsEmbedded: SimulationScene = {
  ...EMBEDDED,
  ...SCENE,
  name: 'approvals-embedded',
};
export const approvalsShared: SimulationScene = { ...SHARED, ...SCENE, name: 'approvals-shared' };
