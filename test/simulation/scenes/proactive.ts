import { alertsOnce, jobsOnce, subAgentsOnce, TASKS } from '../invariants/proactive.ts';
import type { SimulationScene } from '../scene.ts';
import type { Simulation } from '../simulation.ts';
import type { ModelAnswer, ModelRequest } from '../world/model.ts';
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
const OWNER = '1';
const MINUTE_MS = 60_000;
/** The longest time between two sleeps, in ms. */
const AWAKE_MS = 60_000;
/** The machine sleeps for most of this time. */
const SPAN_MS = 14 * MINUTE_MS;
/** The prompt that starts a sub-agent, instead of a person's message. */
const SUB_AGENT = 'Do the task that your instructions end with';

function createCalls(question: string): readonly (readonly ScriptedCall[])[] {
  const number = getQuestionNumber(question);
  const cron = (fields: object) => ({
    name: 'cron',
    arguments: { action: 'add', title: `job ${number}`, ...fields },
  });
  switch (number % 4) {
    case 1:
      return [
        [{ name: 'delegate_task', arguments: { title: `t${number}`, task: `Find s${number}.` } }],
      ];
    case 2:
      return [[cron({ task: `Do job${number}x.`, at: `in ${5 + (number % 40)} s` })]];
    case 3:
      return number === 3 ? [[cron({ task: `Do job${number}x.`, every: '1 min' })]] : [];
    default:
      return [];
  }
}

function answerRequest(request: ModelRequest, { time }: Simulation): ModelAnswer {
  const said = getLastPersonText(request);
  if (said.includes(SUB_AGENT)) {
    const [, number] = /Find s(\d+)\./.exec(request.body) ?? [];
    return { text: `Found f${number}.` };
  }
  const task = Object.keys(TASKS).find((name) => request.body.includes(`Look after ${name}.`));
  if (task !== undefined) return { text: `Alert of ${task}: alert${Math.round(time.now)}x.` };
  const jobs = [...new Set(said.match(/\bjob\d+x\b/g) ?? [])];
  const found = [...new Set(said.match(/\bf\d+\b/g) ?? [])];
  const answered = answerWithCalls(request, createCalls);
  if (answered.text === undefined) return answered;
  const more = [...jobs.map((job) => `Done: ${job}.`), ...found.map((one) => `Here is ${one}.`)];
  const isAsked = /\bq\d+\b/.test(said);
  return { text: [...(isAsked ? [answered.text] : []), ...more].join(' ') || 'Nothing.' };
}

/** An owner asks in bursts; between them the machine sleeps past jobs and heartbeat tasks. */
function startPeople(simulation: Simulation): void {
  const { time } = simulation;
  const chance = simulation.chance('sleep');
  keepAsking(simulation, [2_000, 60_000], (question) => {
    simulation.ask('keyed', question, createDirectOrigin(OWNER), `${question} for the owner`);
  });
  const sleepLater = (): void => {
    time.plan(chance.between(20_000, AWAKE_MS), () => {
      if (time.now > SPAN_MS - AWAKE_MS) return;
      const until = Math.min(time.now + chance.between(MINUTE_MS, 6 * MINUTE_MS), SPAN_MS);
      simulation.supervisor.sleepUntil(until);
      time.plan(until - time.now, sleepLater);
    });
  };
  sleepLater();
}

/**
 * Whether a one-off job is still due, perhaps after a failed run; a job that runs every minute
 * never ends.
 */
function isJobDue({ observer }: Simulation): boolean {
  const jobs = observer.rows(
    "select id from cron_job where state = 'on' and timetable like '%once%'",
  );
  const agents = observer.rows("select id from sub_agent where state = 'running'");
  return jobs.length + agents.length > 0;
}

const heartbeat = Object.entries(TASKS).map(
  ([name, minutes]) => `## ${name}\n- every: ${minutes} min\n- do: Look after ${name}.\n`,
);

const SCENE = {
  platforms: [KEYED],
  spanMs: SPAN_MS,
  settings: {
    owners: [`keyed:${OWNER}`],
    cron: { minMinutes: 1 },
    // Otherwise the result of a sub-agent would make each job ask for approval.
    approvals: { auto: ['cron'] },
    heartbeat: { enabled: true, everyMinutes: 5, quietHours: 'off', tokensPerDay: 100_000_000 },
  },
  files: { 'HEARTBEAT.md': heartbeat.join('\n') },
  invariants: [jobsOnce, alertsOnce, subAgentsOnce],
  answer: answerRequest,
  people: startPeople,
  isUnderWay: isJobDue,
} as const satisfies Partial<SimulationScene>;

/**
 * Jobs, heartbeat tasks and sub-agents. This scene does not change clocks, so each scheduled time
 * occurs once.
 */
export const proactiveEmbedded: SimulationScene = {
  ...EMBEDDED,
  ...SCENE,
  name: 'proactive-embedded',
  faults: EMBEDDED.faults.filter((kind) => kind !== 'clock'),
};
export const proactiveShared: SimulationScene = { ...SHARED, ...SCENE, name: 'proactive-shared' };
