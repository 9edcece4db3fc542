import type { Clock } from '@parley/contracts';
import type { BeatRun, Store } from '@parley/store';
import { zoneClock } from '../clock/zone-clock.ts';
import { quietUntil, readQuietHours } from './quiet-hours.ts';

/** What telling of failures needs. */
export interface TellFailuresDeps {
  readonly store: Pick<Store, 'heartbeats'>;
  readonly agent: { readonly id: string; readonly timeZone: string };
  /** As in the settings: `off`, or `22:00-07:00`. */
  readonly settings: { readonly quietHours: string };
  /** Writes to the owner's direct chat, once for each key, however often it is called. */
  readonly tell: (key: string, words: string) => Promise<void>;
  readonly clock: Clock;
}

/** One that fails may be an accident of its provider; so many in a row are not. */
const IN_A_ROW = 3;
const LONGEST = 200;

/** Tells the owner, once a day and not in the quiet hours, that runs fail one after the other. */
export function tellFailures({ store, agent, settings, tell, clock }: TellFailuresDeps) {
  const hours = readQuietHours(settings.quietHours);
  const zone = zoneClock(agent.timeZone);
  return async (): Promise<void> => {
    const words = failureWords(await store.heartbeats.recent(agent.id, IN_A_ROW));
    const now = clock();
    if (words === null || quietUntil(hours, { clock: zone, now }) !== null) return;
    const day = new Date(zone.wallAt(now)).toISOString().slice(0, 10);
    await tell(`beats-failed:${agent.id}:${day}`, words);
  };
}

/** @param runs the newest first; null unless all of them failed. */
function failureWords(runs: readonly BeatRun[]): string | null {
  const [last] = runs;
  if (last === undefined || runs.length < IN_A_ROW) return null;
  if (runs.some(({ state }) => state !== 'failed')) return null;
  const tasks = [...new Set(runs.map(({ task }) => task))].join(', ');
  const why = (last.reason ?? 'unknown').replace(/[`\s]+/g, ' ').slice(0, LONGEST);
  return `My standing tasks have failed ${IN_A_ROW} times in a row (${tasks}). The last time: \`${why}\`. I go on trying; /heartbeat shows how it stands.`;
}
