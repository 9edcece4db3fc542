import type { OutputOf } from '@parley/gateway/operations';
import type { UsageFigures } from '@parley/store';
import type { VNode } from 'preact';
import { formatAmount, formatCounted } from '../ui/format.ts';
import { formatCost, formatLatency } from './figures.ts';

type UsageReport = OutputOf<'usage/report'>;

interface UsageLine {
  readonly key: string;
  readonly name: string;
  /** The title was chosen by people and is shown as plain text. */
  readonly title?: string | null;
  readonly figures: UsageFigures;
}

interface UsageColumn {
  readonly name: string;
  readonly text: (figures: UsageFigures) => string;
  /** The value that determines the length of the bar in the cell. */
  readonly size?: (figures: UsageFigures) => number;
}

const COLUMNS: readonly UsageColumn[] = [
  { name: 'Turns', text: ({ turns }) => formatAmount(turns), size: ({ turns }) => turns },
  { name: 'Failed', text: ({ failed }) => formatAmount(failed) },
  {
    name: 'Tokens in',
    text: ({ inputTokens }) => formatAmount(inputTokens),
    size: ({ inputTokens }) => inputTokens,
  },
  { name: 'Cached', text: ({ cachedTokens }) => formatAmount(cachedTokens) },
  {
    name: 'Tokens out',
    text: ({ outputTokens }) => formatAmount(outputTokens),
    size: ({ outputTokens }) => outputTokens,
  },
  { name: 'Money', text: formatCost, size: ({ costUsd }) => costUsd },
  {
    name: 'Median',
    text: ({ latency }) => formatLatency(latency?.p50),
    size: ({ latency }) => latency?.p50 ?? 0,
  },
  { name: '95th percentile', text: ({ latency }) => formatLatency(latency?.p95) },
];

/** One line per group, with bars for comparison, followed by a total. */
export function UsageTable(props: {
  readonly report: UsageReport;
  /** The heading of the first column. */
  readonly heading: string;
}): VNode {
  const { report, heading } = props;
  const lines = listUsageLines(report);
  if (lines.length === 0) return <p>No usage in this period.</p>;
  const most = COLUMNS.map(({ size }) =>
    size === undefined ? 0 : Math.max(...lines.map(({ figures }) => size(figures))),
  );
  return (
    // In a narrow window, the table scrolls sideways, so it must be reachable by keyboard.
    <div class="table-box usage-table" role="group" aria-label="Usage" tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col">{heading}</th>
            {COLUMNS.map(({ name }) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {lines.map(({ key, name, title, figures }) => (
            <tr key={key}>
              <th scope="row" dir="auto">
                {title ?? name}
                {title && <small class="hint">{name}</small>}
              </th>
              {COLUMNS.map((column, at) => (
                <Cell key={column.name} {...column} figures={figures} most={most[at] ?? 0} />
              ))}
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">Total</th>
            {COLUMNS.map((column) => (
              <Cell key={column.name} {...column} figures={report.total} most={0} />
            ))}
          </tr>
        </tfoot>
      </table>
    </div>
  );
}

interface CellProps extends UsageColumn {
  readonly figures: UsageFigures;
  /** The value for the longest bar in the column; 0 to omit bars. */
  readonly most: number;
}

function Cell({ text, size, figures, most }: CellProps): VNode {
  return (
    <td>
      {text(figures)}
      {size !== undefined && most > 0 && (
        <svg viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
          <rect class="bar-one" width={(100 * size(figures)) / most} height={1} />
        </svg>
      )}
    </td>
  );
}

/**
 * The days that have any usage, newest first. Other groupings start with the groups that have the
 * highest usage, followed by the rest.
 */
export function listUsageLines({
  by,
  days,
  rows,
  other,
  outside,
}: UsageReport): readonly UsageLine[] {
  if (by === 'day') {
    const used = days.filter(({ turns, inputTokens }) => turns + inputTokens > 0);
    return used.toReversed().map((day) => ({ key: day.day, name: day.day, figures: day }));
  }
  return [
    ...rows.map((row) => ({
      ...{ key: row.name, name: row.name || '(none)', title: row.title, figures: row },
    })),
    ...(other === null
      ? []
      : [{ key: ' other', name: formatCounted(other.groups, 'other'), figures: other }]),
    ...(outside === null
      ? []
      : [{ key: ' outside', name: 'Summaries, SOUL.md', figures: outside }]),
  ];
}
