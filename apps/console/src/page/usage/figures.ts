import type { UsageFigures } from '@parley/store';
import { formatDuration } from '../ui/format.ts';

/** An amount in US dollars; amounts below ten also show fractions of a cent. */
export function formatMoney(usd: number): string {
  const digits = usd > 0 && usd < 10 ? 4 : 2;
  const currency = { style: 'currency', currency: 'USD', maximumFractionDigits: digits } as const;
  return usd.toLocaleString(undefined, currency);
}

/**
 * Because of turns without a known price, the sum may be a lower bound; if no price is known, the
 * sum is unknown.
 */
export function formatCost({
  costUsd,
  unpriced,
}: Pick<UsageFigures, 'costUsd' | 'unpriced'>): string {
  if (unpriced === 0) return formatMoney(costUsd);
  return costUsd === 0 ? 'unknown' : `over ${formatMoney(costUsd)}`;
}

/** The latency of answers, given in ms; a dash if there were no answers. */
export function formatLatency(ms: number | undefined): string {
  return ms === undefined ? '–' : formatDuration(ms);
}
