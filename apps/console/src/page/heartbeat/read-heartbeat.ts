import { fieldsOf } from '../chat/wire.ts';
import { listOf, numberOf, textOf } from '../prompt/read-prompt.ts';

/** When something was or will be, and what there is to say of it; `state` decides its colour. */
interface Told {
  readonly state: string;
  readonly words: string;
}

/** A standing task of HEARTBEAT.md. Its texts were written by people and models. */
export interface Task {
  readonly name: string;
  readonly schedule: string;
  readonly instruction: string;
  /** The group that hears of it; empty: the owner. */
  readonly tell: string;
  readonly last: Told;
  readonly next: Told;
}

/** One run of a task; `alert` is empty where nothing was to be told. */
export interface Run extends Told {
  readonly id: string;
  readonly task: string;
  readonly tokens: number;
  readonly alert: string;
}

/** How the heartbeat does. All times are words, in the time zone of the agent. */
export interface HeartbeatState {
  readonly timeZone: string;
  readonly plan: string;
  /** Why the last beat ran nothing; empty when it did. */
  readonly lastBeat: string;
  readonly tokensToday: number;
  readonly tokensPerDay: number;
  readonly tasks: readonly Task[];
  /** The newest first. */
  readonly runs: readonly Run[];
  readonly problems: readonly string[];
}

/** Reads the answer of the gateway; null when there is no plan in it. */
export function readHeartbeat(data: unknown): HeartbeatState | null {
  const { timeZone, plan, tokens, tasks, runs, problems } = fieldsOf(data);
  const { words, lastWords } = fieldsOf(plan);
  if (typeof words !== 'string') return null;
  const { today, perDay } = fieldsOf(tokens);
  return {
    timeZone: textOf(timeZone),
    plan: words.replaceAll('`', ''),
    lastBeat: textOf(lastWords),
    tokensToday: numberOf(today),
    tokensPerDay: numberOf(perDay),
    tasks: listOf(tasks).map(readTask),
    runs: listOf(runs).map(readRun),
    problems: listOf(problems).map(textOf),
  };
}

function readTask(data: unknown): Task {
  const { name, schedule, instruction, tell, last, next } = fieldsOf(data);
  return {
    name: textOf(name),
    schedule: textOf(schedule),
    instruction: textOf(instruction),
    tell: textOf(tell),
    last: readTold(last),
    next: readTold(next),
  };
}

function readRun(data: unknown): Run {
  const { id, task, tokens, alert } = fieldsOf(data);
  return {
    ...readTold(data),
    id: textOf(id),
    task: textOf(task),
    tokens: numberOf(tokens),
    alert: textOf(alert),
  };
}

function readTold(data: unknown): Told {
  const { state, words } = fieldsOf(data);
  return { state: textOf(state), words: textOf(words) };
}
