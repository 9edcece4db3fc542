import {
  type Clock,
  type Logger,
  ParleyError,
  type Reader,
  type RuntimeFacts,
  reasonOf,
} from '@parley/core';
import {
  countInputTokens,
  type DailySpend,
  type SpendAccount,
  type Store,
  type TurnRepository,
  type UsageTotals,
} from '@parley/store';
import type { StepUsage } from './loop/turn-journal.ts';
import { createLocalTime } from './time.ts';
import type { AgentProfile, Turn } from './turn/turn.ts';

/**
 * Thrown if a spend cap has been reached, so that the model is not called. The message is a notice
 * for the person.
 */
export class SpendCapError extends ParleyError {
  readonly cap: ReachedCap;
  constructor(cap: ReachedCap, words: string) {
    super({ code: 'spend-cap', message: words, retryable: false });
    this.cap = cap;
  }
}

export interface SpendCheck {
  readonly account: SpendAccount;
  readonly used: StepUsage | null;
  readonly byOwner: boolean;
  readonly reader: Reader;
  /** The chat in which the question was asked; absent if no person asked. */
  readonly at?: SpendScope;
}

export type SpendScope = Pick<RuntimeFacts, 'channel' | 'account' | 'channelUserId' | 'groupId'>;

/**
 * Throws SpendCapError if a cap forbids another model call (G17). Each call reads the account from
 * the store.
 */
export type SpendGuard = (spending: SpendCheck) => Promise<void>;

/**
 * Asks the spend guard before a model call. `used` is the usage of this turn that has not been
 * charged yet.
 */
export async function assertWithinBudget(
  { spendGuard }: { readonly spendGuard?: SpendGuard },
  { account, byOwner, reader, facts }: Turn,
  used: StepUsage | null,
): Promise<void> {
  await spendGuard?.({ account, used, byOwner, reader, at: facts });
}

/** The part of the store that is charged for aborted calls. */
export interface CutOffCharges {
  readonly turns: Pick<TurnRepository, 'countCutOff'>;
}

/**
 * Records the usage of a model call that was aborted from outside. The usage cannot be stored with
 * the turn, which has already ended.
 */
export async function recordAbortedUsage(
  { store, log }: { readonly store: CutOffCharges; readonly log: Logger },
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
  /**
   * The clock for the notice, which states in how many hours answers resume. If it is absent, the
   * notice states only that answers resume after midnight.
   */
  readonly clock?: Clock;
  /** If it is absent, no sender is treated as a stranger. */
  readonly isStranger?: (at: SpendScope) => boolean;
}

/**
 * Creates the spend guard for an installation. Each cap that is reached is logged once a day.
 * Concurrent model calls do not see each other's usage, so together they can exceed a cap. `caps`
 * apply to all agents together, `own` only to this agent (F14).
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
    log.warn(
      { cap, of, day },
      'a spend cap has been reached; the model will not be called before midnight',
    );
  };
  return async ({ account, used, byOwner, reader, at }) => {
    const known = at !== undefined && isStranger(at) ? 'stranger' : 'known';
    const by = byOwner ? 'owner' : known;
    // No query is needed if no cap applies.
    if (!hasCaps && (by !== 'stranger' || perStrangerDaily === undefined)) return;
    const turn = {
      tokens: used === null ? 0 : countInputTokens(used) + used.outputTokens,
      costUsd: used?.costUsd ?? 0,
    };
    const spent = hasCaps
      ? await store.spend.of(account)
      : { person: await store.spend.ofPerson(account), ...NOTHING_ELSE };
    const ofAll = findReachedCap(caps, spent, { turn, by });
    const cap = ofAll ?? (own && findReachedCap(own, spent.ofAgent, { turn, by })) ?? null;
    if (cap === null) return;
    logOnce(cap, account);
    const section = ofAll === null ? `agents.${name}.spend` : 'spend';
    const toOwner = reader.kind === 'owner';
    throw new SpendCapError(
      cap,
      formatCapNotice(cap, { timeZone, toOwner, section, now: clock?.() }),
    );
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

/** The daily spending caps (G17), as given in the settings. */
export interface SpendCaps {
  readonly perPersonDaily?: SpendCap | undefined;
  /**
   * The cap for people who only have open access. This cap applies in addition to `perPersonDaily`.
   */
  readonly perStrangerDaily?: SpendCap | undefined;
  readonly perGroupDaily?: SpendCap | undefined;
  /** This cap also applies to owners, because it limits the total cost. */
  readonly totalDaily?: SpendCap | undefined;
  /** Whether the caps per person and per group apply to owners as well. */
  readonly capOwners: boolean;
}

type ReachedCap = Exclude<keyof SpendCaps, 'capOwners'>;
type SpenderKind = 'owner' | 'known' | 'stranger';

/**
 * Returns the cap that forbids another model call, or null. `turn` is the usage that has not been
 * charged yet.
 */
export function findReachedCap(
  caps: SpendCaps,
  spent: Omit<DailySpend, 'ofAgent'>,
  { turn, by }: { readonly turn: UsageTotals; readonly by: SpenderKind },
): ReachedCap | null {
  const isOver = (cap: SpendCap | undefined, { tokens, costUsd }: UsageTotals): boolean =>
    (cap?.tokens !== undefined && tokens + turn.tokens >= cap.tokens) ||
    (cap?.usd !== undefined && costUsd + turn.costUsd >= cap.usd);
  const isExempt = by === 'owner' && !caps.capOwners;
  if (!isExempt && isOver(caps.perPersonDaily, spent.person)) return 'perPersonDaily';
  if (by === 'stranger' && isOver(caps.perStrangerDaily, spent.person)) return 'perStrangerDaily';
  if (!isExempt && isOver(caps.perGroupDaily, spent.group)) return 'perGroupDaily';
  return isOver(caps.totalDaily, spent.total) ? 'totalDaily' : null;
}

const SENTENCES: Readonly<Record<ReachedCap, string>> = {
  perPersonDaily: 'You have used up your daily allowance.',
  perStrangerDaily: 'You have used up your daily allowance.',
  perGroupDaily: 'This group has used up its daily allowance.',
  totalDaily: 'I have used up my daily allowance.',
};

/** Explains to people who have reached a cap why it exists. */
const REASONS: Readonly<Record<ReachedCap, string>> = {
  perPersonDaily: 'Each answer costs money, so each person has a daily limit.',
  perStrangerDaily:
    'Everyone may write to me here and each answer costs money, so each person has a daily limit.',
  perGroupDaily: 'Each answer costs money, so each group has a daily limit.',
  totalDaily: 'Each answer costs money, so there is a daily limit.',
};

interface CapNoticeOptions {
  readonly timeZone: string;
  readonly toOwner: boolean;
  readonly section?: string;
  /** If absent, the notice states neither the reason nor the remaining hours. */
  readonly now?: number | undefined;
}

/**
 * Builds the notice to a person: why answers stopped, when they resume and, for owners, which
 * setting defines the cap. The notice does not reveal the usage of other people. Only the agent's
 * time zone is known, so the notice states the hours until midnight there, which are the same in
 * every zone.
 */
export function formatCapNotice(
  cap: ReachedCap,
  { timeZone, toOwner, section = 'spend', now }: CapNoticeOptions,
): string {
  const setting = toOwner ? ` The cap is ${section}.${cap} in the settings.` : '';
  const why = now === undefined ? '' : ` ${REASONS[cap]}`;
  const wait =
    now === undefined ? '' : `, in ${formatHours(computeMinutesToMidnight(now, timeZone))}`;
  return `${SENTENCES[cap]}${why} I can answer again after midnight (${timeZone})${wait}.${setting}`;
}

const DAY_MINUTES = 24 * 60;

/** Off by up to an hour on days when the clocks change. */
function computeMinutesToMidnight(now: number, timeZone: string): number {
  const [hours = 0, minutes = 0] = createLocalTime(timeZone)(now).time.split(':').map(Number);
  return DAY_MINUTES - (hours * 60 + minutes);
}

const NUMBERS =
  'two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty'.split(
    ' ',
  );

/**
 * Spells out the waiting time, such as `about seven hours`, so that no figure in the notice can be
 * mistaken for the amount of the cap.
 */
function formatHours(minutes: number): string {
  const hours = Math.round(minutes / 60);
  if (hours < 1) return 'less than an hour';
  if (hours === 1) return 'about an hour';
  return hours > 20 ? 'almost a day' : `about ${NUMBERS[hours - 2]} hours`;
}
