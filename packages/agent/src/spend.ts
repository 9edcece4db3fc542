import {
  type Clock,
  type Logger,
  ParleyError,
  type Reader,
  type RuntimeFacts,
  reasonOf,
} from '@parley/core';
import {
  countedInput,
  type SpendAccount,
  type Spent,
  type SpentOfDay,
  type Store,
} from '@parley/store';
import type { StepUsage } from './loop/turn-journal.ts';
import { localTimeIn } from './time.ts';
import type { AgentProfile, Turn } from './turn/turn.ts';

/** A cap is used up, so the model is not asked. The message is for the person. */
export class SpendCapError extends ParleyError {
  readonly cap: ReachedCap;
  constructor(cap: ReachedCap, words: string) {
    super({ code: 'spend-cap', message: words, retryable: false });
    this.cap = cap;
  }
}

export interface Spending {
  readonly account: SpendAccount;
  readonly used: StepUsage | null;
  readonly byOwner: boolean;
  readonly reader: Reader;
  /** The place of their question; absent when no person asks. */
  readonly at?: SpendScope;
}

export type SpendScope = Pick<RuntimeFacts, 'channel' | 'account' | 'channelUserId' | 'groupId'>;

/** Throws SpendCapError where a cap forbids to ask the model (G17). Looks at the account each time. */
export type SpendGuard = (spending: Spending) => Promise<void>;

/** Asks the guard before a call of the model. `used`: by this turn, on no account yet. Throws SpendCapError. */
export async function assertWithinBudget(
  { spendGuard }: { readonly spendGuard?: SpendGuard },
  { account, byOwner, reader, facts }: Turn,
  used: StepUsage | null,
): Promise<void> {
  await spendGuard?.({ account, used, byOwner, reader, at: facts });
}

/** Counts what a call has used that was ended from outside: nothing can be stored with its turn any more. */
export async function countCutOff(
  { store, log }: { readonly store: Pick<Store, 'turns'>; readonly log: Logger },
  { turnId, account }: Turn,
  usage: StepUsage,
): Promise<void> {
  try {
    await store.turns.countCutOff(turnId, { account, usage });
  } catch (error) {
    log.error({ reason: reasonOf(error) }, 'the usage of a stopped call could not be counted');
  }
}

interface SpendServices {
  readonly store: Pick<Store, 'spend'>;
  readonly log: Logger;
  /** For the notice, which says in how many hours it goes on; without it only when. */
  readonly clock?: Clock;
  /** Without it no sender is a stranger. */
  readonly isStranger?: (at: SpendScope) => boolean;
}

/**
 * Makes the guard of an installation; each cap that is reached is logged once a day. Model calls that run
 * at the same time do not see each other's usage, so together they can exceed a cap. `caps` hold for what all agents
 * use together, `own` for this agent alone (F14).
 */
export function createSpendGuard(
  { store, log, clock, isStranger = () => false }: SpendServices,
  caps: SpendCaps,
  { name, timeZone }: Pick<AgentProfile, 'name' | 'timeZone'>,
  own?: SpendCaps,
): SpendGuard {
  const { perStrangerDaily } = caps;
  const hasCaps = [
    ...[caps.perPersonDaily, caps.perGroupDaily, caps.totalDaily],
    ...[own?.perPersonDaily, own?.perStrangerDaily, own?.perGroupDaily, own?.totalDaily],
  ].some((cap) => cap !== undefined);
  let logged = { day: '', lines: new Set<string>() };
  const logOnce = (cap: ReachedCap, { day, personId, groupId }: SpendAccount): void => {
    if (logged.day !== day) logged = { day, lines: new Set() };
    const of = {
      perPersonDaily: personId,
      perStrangerDaily: personId,
      perGroupDaily: groupId,
      totalDaily: 'all',
    }[cap];
    const line = `${cap} ${of}`;
    if (logged.lines.has(line)) return;
    logged.lines.add(line);
    log.warn({ cap, of, day }, 'a spend cap is reached; the model is not asked before midnight');
  };
  return async ({ account, used, byOwner, reader, at }) => {
    const known = at !== undefined && isStranger(at) ? 'stranger' : 'known';
    const by = byOwner ? 'owner' : known;
    // No query for a cap that does not apply.
    if (!hasCaps && (by !== 'stranger' || perStrangerDaily === undefined)) return;
    const turn = {
      tokens: used === null ? 0 : countedInput(used) + used.outputTokens,
      costUsd: used?.costUsd ?? 0,
    };
    const spent = hasCaps
      ? await store.spend.of(account)
      : { person: await store.spend.ofPerson(account), ...NOTHING_ELSE };
    const ofAll = reachedCap(caps, spent, { turn, by });
    const cap = ofAll ?? (own && reachedCap(own, spent.ofAgent, { turn, by })) ?? null;
    if (cap === null) return;
    logOnce(cap, account);
    const section = ofAll === null ? `agents.${name}.spend` : 'spend';
    const toOwner = reader.kind === 'owner';
    throw new SpendCapError(cap, capText(cap, { timeZone, toOwner, section, now: clock?.() }));
  };
}

const NOTHING = { tokens: 0, costUsd: 0 };
const NOTHING_ELSE = {
  ...{ group: NOTHING, total: NOTHING },
  ofAgent: { person: NOTHING, group: NOTHING, total: NOTHING },
};

export interface SpendCap {
  readonly tokens?: number | undefined;
  readonly usd?: number | undefined;
}

/** The daily spending caps (G17), as in the settings. */
export interface SpendCaps {
  readonly perPersonDaily?: SpendCap | undefined;
  /** The cap of people whom only open access allows; holds besides `perPersonDaily`. */
  readonly perStrangerDaily?: SpendCap | undefined;
  readonly perGroupDaily?: SpendCap | undefined;
  /** Holds for owners, too: it is what they want to pay in all. */
  readonly totalDaily?: SpendCap | undefined;
  /** Those of a person and of a group hold for owners as well. */
  readonly capOwners: boolean;
}

type ReachedCap = Exclude<keyof SpendCaps, 'capOwners'>;
type Spender = 'owner' | 'known' | 'stranger';

/** Which cap forbids to ask the model once more; null where none does. `turn`: what is not counted yet. */
export function reachedCap(
  caps: SpendCaps,
  spent: Omit<SpentOfDay, 'ofAgent'>,
  { turn, by }: { readonly turn: Spent; readonly by: Spender },
): ReachedCap | null {
  const isOver = (cap: SpendCap | undefined, { tokens, costUsd }: Spent): boolean =>
    (cap?.tokens !== undefined && tokens + turn.tokens >= cap.tokens) ||
    (cap?.usd !== undefined && costUsd + turn.costUsd >= cap.usd);
  const isExempt = by === 'owner' && !caps.capOwners;
  if (!isExempt && isOver(caps.perPersonDaily, spent.person)) return 'perPersonDaily';
  if (by === 'stranger' && isOver(caps.perStrangerDaily, spent.person)) return 'perStrangerDaily';
  if (!isExempt && isOver(caps.perGroupDaily, spent.group)) return 'perGroupDaily';
  return isOver(caps.totalDaily, spent.total) ? 'totalDaily' : null;
}

const SENTENCES: Readonly<Record<ReachedCap, string>> = {
  perPersonDaily: 'You have used up what you may use of my model in a day.',
  perStrangerDaily: 'You have used up what you may use of my model in a day.',
  perGroupDaily: 'This group has used up what it may use of my model in a day.',
  totalDaily: 'I have used up what I may use of my model in a day.',
};

/** Why there is such a bound, for those who have reached it. */
const REASONS: Readonly<Record<ReachedCap, string>> = {
  perPersonDaily: 'Each answer costs money, so each person has a share for a day.',
  perStrangerDaily:
    'Everyone may write to me here and each answer costs money, so each person has a share for a day.',
  perGroupDaily: 'Each answer costs money, so each group has a share for a day.',
  totalDaily: 'Each answer costs money, and this bounds it.',
};

interface CapNotice {
  readonly timeZone: string;
  readonly toOwner: boolean;
  readonly section?: string;
  /** In ms; absent: the notice says neither why nor in how many hours. */
  readonly now?: number | undefined;
}

/**
 * The notice to a person: why, when it continues, and for owners which setting it is; no figures of others. Only the
 * agent's time zone is known, so the notice gives the hours until then, which are the same in every zone.
 */
export function capText(
  cap: ReachedCap,
  { timeZone, toOwner, section = 'spend', now }: CapNotice,
): string {
  const setting = toOwner ? ` The cap is ${section}.${cap} in the settings.` : '';
  const why = now === undefined ? '' : ` ${REASONS[cap]}`;
  const wait = now === undefined ? '' : `, in ${hoursText(minutesToMidnight(now, timeZone))}`;
  return `${SENTENCES[cap]}${why} I can answer again after midnight (${timeZone})${wait}.${setting}`;
}

const DAY_MINUTES = 24 * 60;

/** An hour more or less on days when clocks change. */
function minutesToMidnight(now: number, timeZone: string): number {
  const [hours = 0, minutes = 0] = localTimeIn(timeZone)(now).time.split(':').map(Number);
  return DAY_MINUTES - (hours * 60 + minutes);
}

const NUMBERS =
  'two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty'.split(
    ' ',
  );

/** `about seven hours`, in words: the notice holds no figures that could be taken for those of the cap. */
function hoursText(minutes: number): string {
  const hours = Math.round(minutes / 60);
  if (hours < 1) return 'less than an hour';
  if (hours === 1) return 'about an hour';
  return hours > 20 ? 'almost a day' : `about ${NUMBERS[hours - 2]} hours`;
}
