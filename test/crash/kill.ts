import { DURABLE_POINTS, type DurablePoint } from '@parley/contracts';

/** When Parley is killed in one round. */
export type Kill =
  /** At the nth passing of a named point; `again`: its next life as well, at the first one. */
  | {
      readonly kind: 'point';
      readonly point: DurablePoint;
      readonly nth: number;
      readonly again: boolean;
    }
  /** While the model thinks about the nth request from now. */
  | { readonly kind: 'thinking'; readonly nth: number }
  /** So many ms after a burst began. */
  | { readonly kind: 'moment'; readonly afterMs: number }
  /** One life after the other dies so many ms after it was started; questions wait meanwhile. */
  | { readonly kind: 'start-up'; readonly afterMs: readonly number[] };

/** A row of the table: what its rounds have in common. */
export type KillSite = DurablePoint | 'thinking' | 'moment' | 'start-up';
export const KILL_SITES: readonly KillSite[] = [
  ...DURABLE_POINTS,
  'thinking',
  'moment',
  'start-up',
];

/** A burst passes each point about this often at least. */
const PASSINGS = 6;
/** One round in so many kills the next life, too. */
const AGAIN_EVERY = 4;
const LONGEST_MOMENT_MS = 300;
/** A start on a busy machine takes about this long. */
const LONGEST_START_MS = 1_200;
const LIVES_AT_START = 3;

/** The kill of a round, from 0. `random` gives numbers in [0, 1). */
export function killOf(site: KillSite, round: number, random: () => number): Kill {
  const nth = 1 + (round % PASSINGS);
  switch (site) {
    case 'thinking':
      return { kind: 'thinking', nth };
    case 'moment':
      return { kind: 'moment', afterMs: random() * LONGEST_MOMENT_MS };
    case 'start-up': {
      const afterMs = Array.from({ length: LIVES_AT_START }, () => random() * LONGEST_START_MS);
      return { kind: 'start-up', afterMs };
    }
    default: {
      const again = round % AGAIN_EVERY === AGAIN_EVERY - 1;
      return { kind: 'point', point: site, nth, again };
    }
  }
}
