import { formatDuration, pluralize } from '@parley/core';
import type { InputOf, OutputOf } from '@parley/gateway/operations';
import type { UsageFigures } from '@parley/store';
import type { CliContext } from '../cli.ts';
import { operateAndPrint } from '../operate.ts';
import { formatTable } from '../terminal/text.ts';

type UsageReport = OutputOf<'usage/report'>;
type UsageCap = UsageReport['caps'][number];

/** `parley usage` (U07): shows tokens, cost, turns, latency and the caps. */
export function showUsage(
  cli: CliContext,
  { by, days, until }: InputOf<'usage/report'>,
): Promise<number> {
  return operateAndPrint(cli, 'usage/report', { by, days, until }, formatUsage);
}

function formatUsage(report: UsageReport): string {
  const { by, days, rows, other, outside, total } = report;
  const head = [by, 'turns', 'failed', 'in', 'cached', 'out', 'US$', 'p50', 'p95'];
  const used = by === 'day' ? days.filter(isUsed).map((day) => toUsageRow(day.day, day)) : [];
  const lines = [
    ...used,
    ...rows.map((row) => toUsageRow(formatRowName(row), row)),
    ...(other === null ? [] : [toUsageRow(`${other.groups} others`, other)]),
    ...(outside === null || by === 'day' ? [] : [toUsageRow('summaries, SOUL.md', outside)]),
  ];
  const table = formatTable([head, ...lines, toUsageRow('total', total)], [1, 2, 3, 4, 5, 6, 7, 8]);
  return [
    `${formatPeriod(report)} (${report.timeZone})`,
    '',
    isUsed(total) ? table : 'Nothing was used.',
    ...listUsageNotes(report),
    '',
    ...listCapLines(report),
  ].join('\n');
}

const isUsed = ({ turns, inputTokens }: UsageFigures): boolean => turns + inputTokens > 0;

function formatPeriod({ days, until }: UsageReport): string {
  const first = days[0]?.day ?? until;
  return first === until ? until : `${first} to ${until}`;
}

function formatRowName({ name, title }: UsageReport['rows'][number]): string {
  const known = name === '' ? '(none)' : name;
  return title === null ? known : `${title} (${known})`;
}

function toUsageRow(name: string, figures: UsageFigures): string[] {
  const { turns, failed, inputTokens, cachedTokens, outputTokens, latency } = figures;
  return [
    name,
    ...[turns, failed, inputTokens, cachedTokens, outputTokens].map(String),
    formatUsageCost(figures),
    latency === null ? '-' : formatDuration(latency.p50),
    latency === null ? '-' : formatDuration(latency.p95),
  ];
}

/**
 * If the price of some turns is unknown, the sum is a lower bound; if all prices are unknown, the
 * sum is unknown.
 */
function formatUsageCost({
  costUsd,
  unpriced,
}: Pick<UsageFigures, 'costUsd' | 'unpriced'>): string {
  if (unpriced === 0) return costUsd.toFixed(4);
  return costUsd === 0 ? 'unknown' : `>${costUsd.toFixed(4)}`;
}

/** Formats a cost for use in a sentence: `$0.0100`, `over $0.0100` or `unknown cost`. */
export function formatMoney({
  costUsd,
  unpriced,
}: Pick<UsageFigures, 'costUsd' | 'unpriced'>): string {
  if (unpriced === 0) return `$${costUsd.toFixed(4)}`;
  return costUsd === 0 ? 'unknown cost' : `over $${costUsd.toFixed(4)}`;
}

function listUsageNotes({ total, isWhole, days }: UsageReport): string[] {
  const oldest = days[0]?.day ?? '';
  return [
    ...(total.unpriced === 0
      ? []
      : [
          `The price of ${pluralize(total.unpriced, 'turn')} is unknown; set the model's price in the settings.`,
        ]),
    ...(isWhole
      ? []
      : [`There are too many turns to list, so days before ${oldest} were left out.`]),
  ].flatMap((note) => ['', note]);
}

const WHOSE: Readonly<Record<UsageCap['name'], string>> = {
  totalDaily: 'by everyone',
  perPersonDaily: 'by one person at most',
  perGroupDaily: 'by one group at most',
  perStrangerDaily: 'by one stranger',
};

function listCapLines({ caps, today }: UsageReport): string[] {
  const used = `today: ${today.tokens} tokens, ${formatMoney(today)}`;
  if (caps.length === 0) return [`${used}; no cap is set (spend.totalDaily in the settings)`];
  return caps.map(({ name, tokens, usd, used }) => {
    const parts = [
      ...(tokens === undefined ? [] : [`${used?.tokens ?? 'unknown'} of ${tokens} tokens`]),
      ...(usd === undefined
        ? []
        : [
            `${used ? formatMoney({ ...used, unpriced: today.unpriced }) : 'unknown'} of $${usd.toFixed(2)}`,
          ]),
    ];
    return `today ${WHOSE[name]}: ${parts.join(', ') || 'no limit'} (spend.${name})`;
  });
}
