import type { InputOf, OutputOf } from '@parley/gateway/operations';
import type { VNode } from 'preact';
import { useRef } from 'preact/hooks';
import { type Route, toHref } from '../route.ts';
import { useOperation } from '../ui/data.tsx';
import { formatAmount, formatCounted } from '../ui/format.ts';
import { ColumnView } from '../ui/frames.tsx';
import { DataContent } from '../ui/widgets.tsx';
import { Caps } from './caps.tsx';
import { DayCharts } from './day-charts.tsx';
import { formatCost, formatLatency } from './figures.ts';
import { UsageTable } from './usage-table.tsx';

type UsageReport = OutputOf<'usage/report'>;

const GROUPINGS: Readonly<Record<UsageReport['by'], string>> = {
  day: 'Day',
  person: 'Person',
  chat: 'Chat',
  model: 'Model',
  channel: 'Channel',
  agent: 'Agent',
};
const PERIODS = [7, 30, 90, 400];

/** Model usage and latency (U07): `#/usage/GROUPING/DAYS`, `#/usage/GROUPING/DAYS/LAST_DAY`. */
export function UsageView({ args }: Route): VNode {
  const [by = 'day', days = '30', until] = args;
  // An address may contain anything, so the gateway validates it.
  const query = { by, days, until } as InputOf<'usage/report'>;
  const data = useOperation('usage/report', query);
  // The groupings that the role allows; they stay visible while a report is loaded.
  const groupings = useRef<UsageReport['groupings']>(['day']);
  if (data.value) groupings.current = data.value.groupings;
  const href = (grouping: string, period: string, last = until): string =>
    toHref('usage', grouping, period, ...(last === undefined ? [] : [last]));
  return (
    <ColumnView name="usage is-wide" title="Usage">
      <div class="row apart">
        <LinkChoice
          label="Group by"
          of={groupings.current.map((id) => ({
            ...{ text: GROUPINGS[id], href: href(id, days), isChosen: id === by },
          }))}
        />
        <LinkChoice
          label="Days"
          of={PERIODS.map((period) => ({
            ...{ text: formatAmount(period), href: href(by, String(period)) },
            isChosen: String(period) === days,
          }))}
        />
      </div>
      <DataContent data={data}>
        {(report) => (
          <>
            <p class="facts">
              {report.days[0]?.day} to {report.until}, {report.timeZone}
              {' · '}
              <a href={href(by, days, getDayBefore(report.days[0]?.day ?? report.until))}>
                Earlier
              </a>
              {until !== undefined && (
                <>
                  {' · '}
                  <a href={toHref('usage', by, days)}>Until today</a>
                </>
              )}
            </p>
            <Totals {...report} />
            {report.by === 'day' && <DayCharts days={report.days} />}
            <UsageTable report={report} heading={GROUPINGS[report.by]} />
            <Caps {...report} />
          </>
        )}
      </DataContent>
    </ColumnView>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly of: readonly {
    readonly text: string;
    readonly href: string;
    readonly isChosen: boolean;
  }[];
}

/**
 * A choice between several addresses. The options are links, so that the browser can go back and
 * bookmarks keep the choice.
 */
function LinkChoice({ label, of }: ChoiceProps): VNode {
  return (
    <nav class="row" aria-label={label}>
      <span class="hint" aria-hidden="true">
        {label}
      </span>
      {of.map(({ text, href, isChosen }) => (
        <a key={href} class="quiet" href={href} aria-current={isChosen ? 'true' : undefined}>
          {text}
        </a>
      ))}
    </nav>
  );
}

const DAY_MS = 24 * 60 * 60_000;

function getDayBefore(day: string): string {
  return new Date(Date.parse(day) - DAY_MS).toISOString().slice(0, 10);
}

function Totals({ total, isWhole, days }: UsageReport): VNode {
  const { turns, failed, inputTokens, cachedTokens, outputTokens, unpriced, latency } = total;
  return (
    <>
      <dl class="sums">
        <div>
          <dt>Tokens</dt>
          <dd>{formatAmount(inputTokens + outputTokens)}</dd>
          <dd class="hint">
            {formatAmount(inputTokens)} in ({formatAmount(cachedTokens)} cached),{' '}
            {formatAmount(outputTokens)} out
          </dd>
        </div>
        <div>
          <dt>Money</dt>
          <dd>{formatCost(total)}</dd>
          {unpriced > 0 && <dd class="hint">no price set for {formatCounted(unpriced, 'turn')}</dd>}
        </div>
        <div>
          <dt>Turns</dt>
          <dd>{formatAmount(turns)}</dd>
          <dd class="hint">{formatAmount(failed)} failed</dd>
        </div>
        <div>
          <dt>Latency</dt>
          <dd>{formatLatency(latency?.p50)}</dd>
          <dd class="hint">median; 95th percentile {formatLatency(latency?.p95)}</dd>
        </div>
      </dl>
      {!isWhole && (
        <p class="facts">Too many turns: days before {days[0]?.day} are not included.</p>
      )}
    </>
  );
}
