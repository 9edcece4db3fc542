import type { UsageDay } from '@parley/store';
import type { VNode } from 'preact';
import { formatAmount } from '../ui/format.ts';
import { formatCost, formatLatency } from './figures.ts';

/**
 * Four charts with a bar for each day. They are hidden from screen readers, because the table below
 * contains the same figures.
 */
export function DayCharts({ days }: { readonly days: readonly UsageDay[] }): VNode {
  return (
    <div class="charts" aria-hidden="true">
      <DayChart
        title="Tokens"
        parts={['in', 'out']}
        days={days}
        valuesOf={({ inputTokens, outputTokens }) => [inputTokens, outputTokens]}
        text={formatAmount}
      />
      <DayChart
        title="Money"
        parts={['US dollars']}
        days={days}
        valuesOf={({ costUsd }) => [costUsd]}
        text={(_, day) => formatCost(day)}
        highest={formatHighestMoney(days)}
      />
      <DayChart
        title="Turns"
        parts={['answered or silent', 'failed']}
        days={days}
        valuesOf={({ turns, failed }) => [turns - failed, failed]}
        text={formatAmount}
        alarm
      />
      <DayChart
        title="Latency"
        parts={['median', '95th percentile']}
        days={days}
        valuesOf={({ latency }) => [latency?.p50 ?? 0, (latency?.p95 ?? 0) - (latency?.p50 ?? 0)]}
        text={formatLatency}
      />
    </div>
  );
}

interface DayChartProps {
  readonly title: string;
  /** The names of a bar's parts, from the bottom. */
  readonly parts: readonly string[];
  readonly days: readonly UsageDay[];
  /** The heights of a bar's parts, stacked from the bottom. */
  readonly valuesOf: (day: UsageDay) => readonly number[];
  readonly text: (value: number, day: UsageDay) => string;
  /** The label of the highest bar, if it differs from its value. */
  readonly highest?: string;
  /** Whether the second part of a bar counts failures. */
  readonly alarm?: boolean;
}

/** The CSS classes of a bar's parts. The highest bar has a height of 100. */
const LOOKS = ['bar-one', 'bar-two'];

/** A chart with a bar for each day or for another period, which `day` names. */
export function DayChart({
  title,
  parts,
  days,
  valuesOf,
  text,
  highest,
  alarm = false,
}: DayChartProps): VNode {
  const bars = days.map((day) => valuesOf(day));
  const most = Math.max(...bars.map(sumValues), 0);
  const top = days.find((_, at) => sumValues(bars[at] ?? []) === most);
  const looks = alarm ? ['bar-one', 'bar-alarm'] : LOOKS;
  return (
    <figure>
      <figcaption class="row legend">
        <b>{title}</b>
        {parts.map((part, nth) => (
          <span key={part} class="hint">
            <i class={looks[nth]} />
            {part}
          </span>
        ))}
      </figcaption>
      <svg viewBox={`0 0 ${days.length} 100`} preserveAspectRatio="none" aria-hidden="true">
        {days.map((one, at) => {
          const { day } = one;
          const values = bars[at] ?? [];
          return (
            <g key={day}>
              <title>{`${day}: ${values.map((_, nth) => text(sumValues(values.slice(0, nth + 1)), one)).join(', ')}`}</title>
              {/* Days without usage also have a hit area, so that the pointer can find them. */}
              <rect x={at} width={1} height={100} fill="transparent" />
              {values.map((value, nth) => {
                const height = most === 0 ? 0 : (100 * value) / most;
                const below = most === 0 ? 0 : (100 * sumValues(values.slice(0, nth))) / most;
                return (
                  <rect
                    key={parts[nth]}
                    class={looks[nth]}
                    x={at + 0.1}
                    y={100 - below - height}
                    width={0.8}
                    height={height}
                  />
                );
              })}
            </g>
          );
        })}
      </svg>
      <p class="hint row apart">
        <span>{days[0]?.day}</span>
        <span>highest: {highest ?? (top && text(most, top))}</span>
        <span>{days.at(-1)?.day}</span>
      </p>
    </figure>
  );
}

/** The highest cost on any day, which is a lower bound if a price is unknown. */
export function formatHighestMoney(
  days: readonly Pick<UsageDay, 'costUsd' | 'unpriced'>[],
): string {
  const costUsd = Math.max(...days.map((day) => day.costUsd), 0);
  const unpriced = days.reduce((sum, day) => sum + day.unpriced, 0);
  return formatCost({ costUsd, unpriced });
}

function sumValues(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
