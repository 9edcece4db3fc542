import type { TaskOutlook } from '../heartbeat/due-task.ts';
import type { Looking } from '../heartbeat/next-run.ts';
import type { NextRunWords } from './heartbeat-report.ts';
import { momentWords } from './moment-words.ts';

/** What decides whether a task can run, besides its own hours. */
export interface Conditions {
  readonly enabled: boolean;
  /** The task whose run is not over. */
  readonly running: string | null;
  readonly tokens: { readonly today: number; readonly perDay: number };
  /** Why nobody can be told of a task’s alerts, by its name; absent where somebody can. */
  readonly nobody: ReadonlyMap<string, string>;
  /** The beat (ms) of each task by name, null if none is to come; absent before any was planned. */
  readonly beats: ReadonlyMap<string, number | null>;
  readonly at: Looking;
}

/** When a task runs next and why not now, in words. */
export function nextWords({ task, next }: TaskOutlook, conditions: Conditions): NextRunWords {
  const { at, enabled, running, tokens, nobody, beats } = conditions;
  const none = (state: NextRunWords['state'], words: string) => ({ state, at: null, words });
  if (running === task.name) return none('running', 'after this run');
  const untold = nobody.get(task.name);
  if (untold !== undefined) return none('nobody-to-tell', `not yet: ${untold}`);
  if (!enabled) return none('off', 'only when asked: the heartbeat is off');
  const beat = beats.get(task.name);
  if (beat === null) {
    return none('no-beat', 'no beat falls into its hours these weeks; give it longer ones');
  }
  const time = beat === undefined ? 'with the first beat' : momentWords(beat, at.clock, at.now);
  const moment = beat ?? null;
  switch (next.kind) {
    case 'due':
      return tokens.today >= tokens.perDay
        ? none('no-tokens', `due, but the ${tokens.perDay} tokens of today are used up: tomorrow`)
        : { state: 'due', at: moment, words: `${time}; it is due` };
    case 'not-yet':
      return { state: 'not-yet', at: moment, words: time };
    case 'out-of-hours':
      return { state: 'out-of-hours', at: moment, words: `${time}; out of its hours now` };
    case 'done':
      return { state: 'done', at: moment, words: `${time}; it had its run of these days` };
  }
}
