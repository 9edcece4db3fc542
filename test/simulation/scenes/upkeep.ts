import { findApprovalCode } from '../invariants/approvals.ts';
import { KEPT_DAYS, keepsSettings, keepsYoung, reloadsEndNoTurn } from '../invariants/upkeep.ts';
import type { SimulationScene } from '../scene.ts';
import { createSettings } from '../settings.ts';
import type { Simulation } from '../simulation.ts';
import type { ModelRequest } from '../world/model.ts';
import type { DisplayedMessage } from '../world/platform.ts';
import { createTodoCall } from './ledger.ts';
import {
  answerWithCalls,
  createDirectOrigin,
  EMBEDDED,
  getQuestionNumber,
  keepAsking,
  SHARED,
} from './script.ts';

const KEYED = { id: 'keyed', hasKeys: true, finds: false };
const OWNER = '1';
const CHATS = [OWNER, '2', '3'];
const DAY_MS = 24 * 3_600_000;
/** The longest time between two sleeps, in ms. */
const AWAKE_MS = 15_000;
/** The machine sleeps for nearly all of this time. */
const SPAN_MS = 12 * DAY_MS;

/**
 * The time in days that the owner may take to decide, which is longer than the retention of rows.
 */
const DECIDES_AFTER = [KEPT_DAYS + 0.5, KEPT_DAYS + 2] as const;
/** The longest time that an approval can wait, in minutes. */
const WAIT_MINUTES = 7 * 24 * 60;

function answerRequest(request: ModelRequest) {
  return answerWithCalls(request, (question) => {
    const number = getQuestionNumber(question);
    if (number % 7 === 1) return [[createTodoCall(`m${number}-0-0`)]];
    return number % 3 === 0 ? [[{ name: 'current_time', arguments: {} }]] : [];
  });
}

/**
 * The owner decides days later, when the rows of the waiting turn are older than the retention of
 * other rows.
 */
function reactToMessage(
  { text }: DisplayedMessage,
  platform: string,
  simulation: Simulation,
): void {
  const code = findApprovalCode(text);
  if (code === undefined) return;
  const { time, span } = simulation;
  const days = simulation.chance(`decision ${code}`).between(...DECIDES_AFTER);
  // Approvals requested near the end are decided before the end, so that all work finishes.
  const afterMs = Math.max(1_000, Math.min(days * DAY_MS, span - time.now));
  time.plan(
    afterMs,
    () => void simulation.say(platform, `/approve ${code}`, createDirectOrigin(OWNER)),
  );
}

/** People write a little each day; in between the machine sleeps. */
function startPeople(simulation: Simulation): void {
  const { time } = simulation;
  const chance = simulation.chance('sleep');
  keepAsking(simulation, [DAY_MS / 8, DAY_MS / 3], (question) => {
    const id = chance.one(CHATS);
    simulation.ask('keyed', question, createDirectOrigin(id));
  });
  const sleepLater = (): void => {
    time.plan(chance.between(5_000, AWAKE_MS), () => {
      if (time.now > SPAN_MS - AWAKE_MS) return;
      const until = Math.min(time.now + chance.between(DAY_MS / 2, DAY_MS), SPAN_MS);
      simulation.supervisor.sleepUntil(until);
      time.plan(until - time.now, sleepLater);
    });
  };
  sleepLater();
  changeSettings(simulation);
}

/** The operator writes the settings file occasionally: correctly, in two halves, or incorrectly. */
function changeSettings(simulation: Simulation): void {
  const { time, deployment, scene, span, isShared, brought } = simulation;
  const chance = simulation.chance('settings');
  let version = 0;
  const write = (): void => {
    version += 1;
    const base = createSettings(scene, isShared, brought);
    const { model } = base as { readonly model: object };
    const text = JSON.stringify({ ...base, model: { ...model, model: `seed-${version}` } });
    const half = text.slice(0, Math.floor(text.length * chance.next()));
    const isLast = time.now > span - DAY_MS;
    const kind = isLast ? 'good' : chance.one(['good', 'good', 'half', 'halves', 'wrong']);
    if (kind === 'good') deployment.writeSettingsText(text);
    if (kind === 'half') deployment.writeSettingsText(half);
    if (kind === 'wrong') {
      const wrong = {
        ...base,
        model: { provider: 'openai-compatible', model: `wrong-${version}` },
      };
      deployment.writeSettingsText(JSON.stringify(wrong));
    }
    if (kind === 'halves') {
      deployment.writeSettingsText(half);
      time.plan(chance.between(10, 2_000), () => deployment.writeSettingsText(text));
    }
    if (time.now < span) time.plan(chance.between(DAY_MS / 8, DAY_MS), write);
  };
  time.plan(chance.between(1_000, DAY_MS / 2), write);
}

const SCENE = {
  platforms: [KEYED],
  spanMs: SPAN_MS,
  settings: {
    owners: [`keyed:${OWNER}`],
    approvals: { ask: ['write_todos'], waitMinutes: WAIT_MINUTES },
    heartbeat: { enabled: false },
    retention: {
      messageDays: KEPT_DAYS,
      historyDays: KEPT_DAYS,
      decisionDays: KEPT_DAYS,
      spendDays: KEPT_DAYS,
      everyMinutes: 0.05,
    },
  },
  invariants: [keepsYoung, keepsSettings, reloadsEndNoTurn],
  answer: answerRequest,
  people: startPeople,
  seen: reactToMessage,
} as const satisfies Partial<SimulationScene>;

/** Old rows are removed and the settings change while people keep writing. */
export const upkeepEmbedded: SimulationScene = { ...EMBEDDED, ...SCENE, name: 'upkeep-embedded' };
export const upkeepShared: SimulationScene = { ...SHARED, ...SCENE, name: 'upkeep-shared' };
