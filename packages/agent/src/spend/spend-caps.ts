import type { Spent, SpentOfDay } from '@parley/store';

/** A bound on tokens, money or both; without either it bounds nothing. */
export interface SpendCap {
  readonly tokens?: number | undefined;
  readonly usd?: number | undefined;
}

/** What may be used in a day (G17), as in the settings. */
export interface SpendCaps {
  readonly perPersonDaily?: SpendCap | undefined;
  /** Of people whom only open access lets in; holds besides `perPersonDaily`. */
  readonly perStrangerDaily?: SpendCap | undefined;
  readonly perGroupDaily?: SpendCap | undefined;
  /** Holds for owners, too: it is what they want to pay in all. */
  readonly totalDaily?: SpendCap | undefined;
  /** Those of a person and of a group hold for owners as well. */
  readonly capOwners: boolean;
}

/** The cap that is used up. */
export type ReachedCap = 'perPersonDaily' | 'perStrangerDaily' | 'perGroupDaily' | 'totalDaily';

/** Who asks, as far as caps differ. */
export type Spender = 'owner' | 'known' | 'stranger';

/** Which cap forbids to ask the model once more; null where none does. `turn`: what is not counted yet. */
export function reachedCap(
  caps: SpendCaps,
  spent: SpentOfDay,
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

/** What a person is told: when it goes on, and for owners which setting it is; no figures of others. */
export function capWords(
  cap: ReachedCap,
  { timeZone, toOwner }: { readonly timeZone: string; readonly toOwner: boolean },
): string {
  const setting = toOwner ? ` The cap is spend.${cap} in the settings.` : '';
  return `${SENTENCES[cap]} I can answer again after midnight (${timeZone}).${setting}`;
}
