import { DURABLE_POINTS, type DurablePoint } from '@parley/core';
import type { RandomChance } from '../privacy/chance.ts';
import type { DeploymentName } from './deployment.ts';

/**
 * What can be killed: a kind of process or server; a deployment may have several processes of a
 * kind.
 */
export type VictimKind = 'parley' | 'gateway' | 'worker' | 'postgres' | 'redis';

/** The target and the time of the kill in one round. */
export type Kill =
  /**
   * The process that passes a named point for the nth time; with `again`, its successor as well,
   * when it first passes that point.
   */
  | {
      readonly kind: 'point';
      readonly point: DurablePoint;
      readonly nth: number;
      readonly again: boolean;
    }
  /** Kills a gateway that serves accounts, and then the process that takes over the nth account. */
  | { readonly kind: 'takeover'; readonly nth: number }
  /** A worker, while the model works on the nth request from now. */
  | { readonly kind: 'thinking'; readonly nth: number }
  /** Kills all of these processes at once, whatever they are doing. Servers are down for `awayMs`. */
  | { readonly kind: 'moment'; readonly victims: readonly VictimKind[]; readonly awayMs: number }
  /** One process, repeatedly: each of these delays, in ms, follows a start. */
  | { readonly kind: 'start-up'; readonly afterMs: readonly number[] };

/** A row in the table of kill sites, with the properties shared by its rounds. */
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

/** Questions alone never pass these points. */
const OF_JOBS: DurablePoint = 'job-fired';

/** The sites at which a deployment is killed. */
export function listKillSites(deployment: DeploymentName): readonly KillSite[] {
  const moments = deployment === 'embedded' ? ['parley'] : TOGETHER.map(nameOf);
  const points = DURABLE_POINTS.filter((point) => point !== OF_JOBS);
  return [...points, 'thinking', ...moments, 'start-up'];
}

/**
 * The maximum number of passes before a process is killed at a point, so that kills meet different
 * moments of the load.
 */
const PASSINGS = { 'one life': 4, 'several lives': 12 } as const;
/** The accounts that a gateway takes over: one on each platform that people use. */
const ACCOUNTS = 4;
/** In one of this many rounds, the next process is killed, too. */
const KILL_NEXT_ONE_IN = 4;
const MAX_AWAY_MS = 3_000;
/** Roughly how long a process takes to start on a busy machine. */
const MAX_START_MS = 1_200;
const LIVES_AT_START = 3;

/** Whether a round at a site may kill a process and its successors. */
export type KillDepth = 'one life' | 'several lives';

/** Chooses the kill of one round at a site. */
export function chooseKill(
  site: KillSite,
  chance: RandomChance,
  depth: KillDepth = 'several lives',
): Kill {
  const isDeep = depth === 'several lives';
  const nth = 1 + chance.below(PASSINGS[depth]);
  // Accounts are taken only at starts and takeovers.
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
  const victims: readonly VictimKind[] = site === 'parley' ? ['parley'] : listVictims(site);
  return { kind: 'moment', victims, awayMs: chance.below(MAX_AWAY_MS) };
}

function listVictims(site: KillSite): readonly VictimKind[] {
  const victims = TOGETHER.find((each) => nameOf(each) === site);
  if (victims === undefined) throw new Error(`Nothing is killed at "${site}".`);
  return victims;
}
