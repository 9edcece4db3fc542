import type { UsageFigures } from '@parley/store';
import { spanOf } from '../ui/format.ts';

/** An amount of US dollars; of less than ten, parts of a cent are shown, too. */
export function formatMoney(usd: number): string {
  const digits = usd > 0 && usd < 10 ? 4 : 2;
  const currency = { style: 'currency', currency: 'USD', maximumFractionDigits: digits } as const;
  return usd.toLocaleString(undefined, currency);
}

/** Turns without a known price make a sum a lower bound; without any price it is unknown. */
export function moneyText({
  costUsd,
  unpriced,
}: Pick<UsageFigures, 'costUsd' | 'unpriced'>): string {
  if (unpriced === 0) return formatMoney(costUsd);
  return costUsd === 0 ? 'unknown' : `over ${formatMoney(costUsd)}`;
}

/** The duration of answers, from ms; a dash where there were none. */
export function latencyText(ms: number | undefined): string {
  return ms === undefined ? '–' : spanOf(ms);
}
