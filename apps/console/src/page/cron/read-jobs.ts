import { fieldsOf } from '../chat/wire.ts';
import { listOf, numberOf, textOf } from '../prompt/read-prompt.ts';

/** One job with a timetable. Its texts were written by people and models. Times in ms. */
export interface CronJob {
  readonly id: string;
  readonly title: string;
  readonly task: string;
  /** When it runs, in words. */
  readonly when: string;
  readonly state: 'on' | 'paused' | 'over';
  /** Why it does not run although it is on; empty where it does. */
  readonly waits: string;
  readonly nextAt: number | null;
  readonly lastAt: number | null;
  /** How the last run ended; empty while it is under way. */
  readonly lastOutcome: string;
  readonly failures: number;
  /** Where its answers go. */
  readonly chat: string;
}

/** Reads the list; entries that this page cannot show are left out. */
export function readJobs(data: unknown): readonly CronJob[] {
  return listOf(fieldsOf(data).jobs).flatMap((entry) => readJob(entry) ?? []);
}

function readJob(data: unknown): CronJob | null {
  const fields = fieldsOf(data);
  const { id, state } = fields;
  if (typeof id !== 'string' || id === '') return null;
  return {
    id,
    title: textOf(fields.title),
    task: textOf(fields.task),
    when: textOf(fields.when),
    state: state === 'on' || state === 'paused' ? state : 'over',
    waits: textOf(fields.waits),
    nextAt: timeOrNull(fields.nextAt),
    lastAt: timeOrNull(fields.lastAt),
    lastOutcome: textOf(fields.lastOutcome),
    failures: numberOf(fields.failures),
    chat: textOf(fields.chat),
  };
}

function timeOrNull(data: unknown): number | null {
  return typeof data === 'number' ? data : null;
}
