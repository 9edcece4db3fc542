import { countOf, shortDuration } from '@parley/core';
import type { InputOf, OutputOf } from '@parley/gateway/operations';
import type { UsageFigures } from '@parley/store';
import type { Cli } from '../cli.ts';
import { operate } from '../operate.ts';
import { tableText } from '../terminal/text.ts';

type UsageReport = OutputOf<'usage/report'>;
type UsageCap = UsageReport['caps'][number];

/** `parley usage` (U07): shows tokens, cost, turns, latency and the caps. */
export function usage(cli: Cli, { by, days, until }: InputOf<'usage/report'>): Promise<number> {
  return operate(cli, 'usage/report', { by, days, until }, usageText);
}

function usageText(report: UsageReport): string {
  const { by, days, rows, other, outside, total } = report;
  const head = [by, 'turns', 'failed', 'in', 'cached', 'out', 'US$', 'p50', 'p95'];
  const used = by === 'day' ? days.filter(isUsed).map((day) => tableRow(day.day, day)) : [];
  const lines = [
    ...used,
    ...rows.map((row) => tableRow(rowName(row), row)),
    ...(other === null ? [] : [tableRow(`${other.groups} others`, other)]),
    ...(outside === null || by === 'day' ? [] : [tableRow('summaries, SOUL.md', outside)]),
  ];
  const table = tableText([head, ...lines, tableRow('total', total)], [1, 2, 3, 4, 5, 6, 7, 8]);
  return [
    `${periodOf(report)} (${report.timeZone})`,
    '',
    isUsed(total) ? table : 'Nothing was used.',
    ...notesOf(report),
    '',
    ...capLines(report),
  ].join('\n');
}

const isUsed = ({ turns, inputTokens }: UsageFigures): boolean => turns + inputTokens > 0;

function periodOf({ days, until }: UsageReport): string {
  const first = days[0]?.day ?? until;
  return first === until ? until : `${first} to ${until}`;
}

function rowName({ name, title }: UsageReport['rows'][number]): string {
  const known = name === '' ? '(none)' : name;
  return title === null ? known : `${title} (${known})`;
}

function tableRow(name: string, figures: UsageFigures): string[] {
  const { turns, failed, inputTokens, cachedTokens, outputTokens, latency } = figures;
  return [
    name,
    ...[turns, failed, inputTokens, cachedTokens, outputTokens].map(String),
    usageCost(figures),
    latency === null ? '-' : shortDuration(latency.p50),
    latency === null ? '-' : shortDuration(latency.p95),
  ];
}

/**
 * A sum that omits turns with an unknown price is a lower bound; if no price is known, the sum is
 * unknown.
 */
function usageCost({ costUsd, unpriced }: Pick<UsageFigures, 'costUsd' | 'unpriced'>): string {
  if (unpriced === 0) return costUsd.toFixed(4);
  return costUsd === 0 ? 'unknown' : `>${costUsd.toFixed(4)}`;
}

/** The cost for use in a sentence: `$0.0100`, `over $0.0100`, `unknown cost`. */
export function moneyText({
  costUsd,
  unpriced,
}: Pick<UsageFigures, 'costUsd' | 'unpriced'>): string {
  if (unpriced === 0) return `$${costUsd.toFixed(4)}`;
  return costUsd === 0 ? 'unknown cost' : `over $${costUsd.toFixed(4)}`;
}

function notesOf({ total, isWhole, days }: UsageReport): string[] {
  const oldest = days[0]?.day ?? '';
  return [
    ...(total.unpriced === 0
      ? []
      : [
          `The price of ${countOf(total.unpriced, 'turn')} is unknown; set it with the price setting of the model.`,
        ]),
    ...(isWhole ? [] : [`There are so many turns that days before ${oldest} were left out.`]),
  ].flatMap((note) => ['', note]);
}

const WHOSE: Readonly<Record<UsageCap['name'], string>> = {
  totalDaily: 'by everyone',
  perPersonDaily: 'by one person at most',
  perGroupDaily: 'by one group at most',
  perStrangerDaily: 'by one stranger',
};

function capLines({ caps, today }: UsageReport): string[] {
  const used = `today: ${today.tokens} tokens, ${moneyText(today)}`;
  if (caps.length === 0) return [`${used}; no cap is set (spend.totalDaily in the settings)`];
  return caps.map(({ name, tokens, usd, used }) => {
    const parts = [
      ...(tokens === undefined ? [] : [`${used?.tokens ?? 'unknown'} of ${tokens} tokens`]),
      ...(usd === undefined
        ? []
        : [
            `${used ? moneyText({ ...used, unpriced: today.unpriced }) : 'unknown'} of $${usd.toFixed(2)}`,
          ]),
    ];
    return `today ${WHOSE[name]}: ${parts.join(', ') || 'no bound'} (spend.${name})`;
  });
}
