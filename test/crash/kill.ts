import { DURABLE_POINTS, type DurablePoint } from '@parley/core';
import type { Chance } from '../privacy/chance.ts';
import type { DeploymentName } from './deployment.ts';

/** What can be killed: a kind of process, of which a deployment may have several. */
export type VictimKind = 'parley' | 'gateway' | 'worker' | 'postgres' | 'redis';

/** When what is killed in one round. */
export type Kill =
  /** Whoever passes a named point for the nth time; `again`: its next life as well, at the first one. */
  | {
      readonly kind: 'point';
      readonly point: DurablePoint;
      readonly nth: number;
      readonly again: boolean;
    }
  /** Who serves accounts dies, and whoever takes the nth account over then. */
  | { readonly kind: 'takeover'; readonly nth: number }
  /** Whoever may work on it, while the model thinks about the nth request from now. */
  | { readonly kind: 'thinking'; readonly nth: number }
  /** These at once, whatever they do. Servers stay away for `awayMs`. */
  | { readonly kind: 'moment'; readonly victims: readonly VictimKind[]; readonly awayMs: number }
  /** One process, again and again so many ms after each start. */
  | { readonly kind: 'start-up'; readonly afterMs: readonly number[] };

/** A row of the table: what its rounds have in common. */
export type KillSite = string;

const TOGETHER: readonly (readonly VictimKind[])[] = [
  ['gateway'],
  ['worker'],
  ['postgres'],
  ['redis'],
  ['gateway', 'worker'],
  ['worker', 'postgres'],
  ['gateway', 'redis'],
  ['gateway', 'gateway'],
  ['postgres', 'redis'],
];

const nameOf = (victims: readonly VictimKind[]): KillSite => victims.join(' + ');

/** People who only ask never pass it. */
const OF_JOBS: DurablePoint = 'job-fired';

/** Where a deployment is killed. */
export function killSites(deployment: DeploymentName): readonly KillSite[] {
  const moments = deployment === 'embedded' ? ['parley'] : TOGETHER.map(nameOf);
  const points = DURABLE_POINTS.filter((point) => point !== OF_JOBS);
  return [...points, 'thinking', ...moments, 'start-up'];
}

/** A process dies when it passes a point for the first to the nth time, so that kills meet different moments of the load. */
const PASSINGS = { 'one life': 4, 'several lives': 12 } as const;
const ACCOUNTS = 3;
/** One round in so many kills the next life, too. */
const KILL_NEXT_ONE_IN = 4;
const MAX_AWAY_MS = 3_000;
/** A start on a busy machine takes about this long. */
const MAX_START_MS = 1_200;
const LIVES_AT_START = 3;

/** Whether a round at a site may kill several lives in a row. */
export type KillDepth = 'one life' | 'several lives';

/** How a round at a site goes. */
export function killAt(site: KillSite, chance: Chance, depth: KillDepth = 'several lives'): Kill {
  const isDeep = depth === 'several lives';
  const nth = 1 + chance.below(PASSINGS[depth]);
  // Taken at starts and takeovers alone.
  if (site === 'account-taken') return { kind: 'takeover', nth: 1 + chance.below(ACCOUNTS) };
  const point = DURABLE_POINTS.find((name) => name === site);
  if (point !== undefined) {
    return { kind: 'point', point, nth, again: isDeep && chance.below(KILL_NEXT_ONE_IN) === 0 };
  }
  if (site === 'thinking') return { kind: 'thinking', nth };
  if (site === 'start-up') {
    const lives = isDeep ? LIVES_AT_START : 1;
    const afterMs = Array.from({ length: lives }, () => chance.below(MAX_START_MS));
    return { kind: 'start-up', afterMs };
  }
  const victims: readonly VictimKind[] = site === 'parley' ? ['parley'] : togetherAt(site);
  return { kind: 'moment', victims, awayMs: chance.below(MAX_AWAY_MS) };
}

function togetherAt(site: KillSite): readonly VictimKind[] {
  const victims = TOGETHER.find((each) => nameOf(each) === site);
  if (victims === undefined) throw new Error(`Nothing is killed at "${site}".`);
  return victims;
}
