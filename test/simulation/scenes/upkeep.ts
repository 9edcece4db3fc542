import { KEPT_DAYS, keepsSettings, keepsYoung } from '../invariants/upkeep.ts';
import type { Scene } from '../scene.ts';
import { settingsOf } from '../settings.ts';
import type { Simulation } from '../simulation.ts';
import type { ModelRequest } from '../world/model.ts';
import { answerWith, direct, EMBEDDED, keepAsking, numberOf, SHARED } from './script.ts';

const KEYED = { id: 'keyed', hasKeys: true, finds: false };
const CHATS = ['1', '2', '3'];
const DAY_MS = 24 * 3_600_000;
/** How long it is awake at most, in ms. */
const AWAKE_MS = 15_000;
/** The machine sleeps for nearly all of it. */
const SPAN_MS = 12 * DAY_MS;

function answer(request: ModelRequest) {
  return answerWith(request, (question) =>
    numberOf(question) % 3 === 0 ? [[{ name: 'current_time', arguments: {} }]] : [],
  );
}

/** People write a little each day; in between the machine sleeps. */
function people(simulation: Simulation): void {
  const { time } = simulation;
  const chance = simulation.chance('sleep');
  keepAsking(simulation, [DAY_MS / 8, DAY_MS / 3], (question) => {
    const id = chance.one(CHATS);
    simulation.ask('keyed', question, direct(id));
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

/** The operator writes the settings file now and then: well, in two halves, or not at all as it should be. */
function changeSettings(simulation: Simulation): void {
  const { time, deployment, scene, span, isShared, brought } = simulation;
  const chance = simulation.chance('settings');
  let version = 0;
  const write = (): void => {
    version += 1;
    const base = settingsOf(scene, isShared, brought);
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
    heartbeat: { enabled: false },
    retention: {
      messageDays: KEPT_DAYS,
      historyDays: KEPT_DAYS,
      decisionDays: KEPT_DAYS,
      spendDays: KEPT_DAYS,
      everyMinutes: 0.05,
    },
  },
  invariants: [keepsYoung, keepsSettings],
  answer,
  people,
} as const satisfies Partial<Scene>;

/** Old rows are removed and the settings change, while people go on writing. */
export const upkeepEmbedded: Scene = { ...EMBEDDED, ...SCENE, name: 'upkeep-embedded' };
export const upkeepShared: Scene = { ...SHARED, ...SCENE, name: 'upkeep-shared' };
