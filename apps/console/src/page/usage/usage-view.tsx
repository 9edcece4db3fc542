import type { InputOf, OutputOf } from '@parley/gateway/operations';
import type { VNode } from 'preact';
import { useRef } from 'preact/hooks';
import { hrefOf, type Route } from '../route.ts';
import { useOperation } from '../ui/data.tsx';
import { amount, counted } from '../ui/format.ts';
import { ColumnView } from '../ui/frames.tsx';
import { List, Section, Show } from '../ui/widgets.tsx';
import { DayCharts } from './day-charts.tsx';
import { formatMoney, latencyText, moneyText } from './figures.ts';
import { UsageTable } from './usage-table.tsx';

type UsageReport = OutputOf<'usage/report'>;
type UsageCap = UsageReport['caps'][number];

const GROUPINGS: Readonly<Record<UsageReport['by'], string>> = {
  day: 'Day',
  person: 'Person',
  chat: 'Chat',
  model: 'Model',
  channel: 'Channel',
  agent: 'Agent',
};
const PERIODS = [7, 30, 90, 400];

/** The usage of models, and their speed (U07): `#/usage/GROUPING/DAYS`, `#/usage/GROUPING/DAYS/LAST_DAY`. */
export function UsageView({ args }: Route): VNode {
  const [by = 'day', days = '30', until] = args;
  // An address may name anything; the gateway says what there is.
  const query = { by, days, until } as InputOf<'usage/report'>;
  const data = useOperation('usage/report', query);
  // Those of the role; they stay while others are loaded.
  const groupings = useRef<UsageReport['groupings']>(['day']);
  if (data.value) groupings.current = data.value.groupings;
  const href = (grouping: string, period: string, last = until): string =>
    hrefOf('usage', grouping, period, ...(last === undefined ? [] : [last]));
  return (
    <ColumnView name="usage" title="Usage">
      <Choice
        label="Group by"
        of={groupings.current.map((id) => ({
          ...{ text: GROUPINGS[id], href: href(id, days), isChosen: id === by },
        }))}
      />
      <Choice
        label="Days"
        of={PERIODS.map((period) => ({
          ...{ text: amount(period), href: href(by, String(period)) },
          isChosen: String(period) === days,
        }))}
      />
      <Show data={data}>
        {(report) => (
          <>
            <p class="facts usage-range">
              {report.days[0]?.day} to {report.until}, {report.timeZone}
              {' · '}
              <a href={href(by, days, dayBefore(report.days[0]?.day ?? report.until))}>Earlier</a>
              {until !== undefined && (
                <>
                  {' · '}
                  <a href={hrefOf('usage', by, days)}>Until today</a>
                </>
              )}
            </p>
            <Totals {...report} />
            {report.by === 'day' && <DayCharts days={report.days} />}
            <UsageTable report={report} heading={GROUPINGS[report.by]} />
            <Caps {...report} />
          </>
        )}
      </Show>
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

/** One of several addresses: links, so that the browser can go back, and a bookmark keeps what was chosen. */
function Choice({ label, of }: ChoiceProps): VNode {
  return (
    <nav class="choice" aria-label={label}>
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

function dayBefore(day: string): string {
  return new Date(Date.parse(day) - DAY_MS).toISOString().slice(0, 10);
}

function Totals({ total, isWhole, days }: UsageReport): VNode {
  const { turns, failed, inputTokens, cachedTokens, outputTokens, unpriced, latency } = total;
  return (
    <>
      <dl class="usage-totals">
        <div>
          <dt>Tokens</dt>
          <dd>{amount(inputTokens + outputTokens)}</dd>
          <dd class="hint">
            {amount(inputTokens)} in ({amount(cachedTokens)} cached), {amount(outputTokens)} out
          </dd>
        </div>
        <div>
          <dt>Money</dt>
          <dd>{moneyText(total)}</dd>
          {unpriced > 0 && (
            <dd class="hint">the price of {counted(unpriced, 'turn')} is not known</dd>
          )}
        </div>
        <div>
          <dt>Turns</dt>
          <dd>{amount(turns)}</dd>
          <dd class="hint">{amount(failed)} failed</dd>
        </div>
        <div>
          <dt>Latency</dt>
          <dd>{latencyText(latency?.p50)}</dd>
          <dd class="hint">for half of the answers; 95 % within {latencyText(latency?.p95)}</dd>
        </div>
      </dl>
      {!isWhole && (
        <p class="facts">There are so many turns that days before {days[0]?.day} were not read.</p>
      )}
    </>
  );
}

const WHOSE: Readonly<Record<UsageCap['name'], string>> = {
  totalDaily: 'Everyone together',
  perPersonDaily: 'One person, at most',
  perGroupDaily: 'One group, at most',
  perStrangerDaily: 'One stranger',
};

/** Each bound of the settings, and how much of it is used up. */
function Caps({ caps, today }: UsageReport): VNode {
  return (
    <Section title="Caps of today" look="usage-caps">
      {caps.length === 0 && (
        <p>
          No cap is set. Today: {amount(today.tokens)} tokens, {formatMoney(today.costUsd)}. The
          setting <code>spend.totalDaily</code> bounds a day.
        </p>
      )}
      <List look="cards" of={caps}>
        {({ name, tokens, usd, used }) => (
          <article key={name} class="card">
            <p>
              <b>{WHOSE[name]}</b> <code class="hint">spend.{name}</code>
            </p>
            {tokens !== undefined && (
              <Bound
                used={used && used.tokens / tokens}
                text={`${used ? amount(used.tokens) : '?'} of ${counted(tokens, 'token')}`}
              />
            )}
            {usd !== undefined && (
              <Bound
                used={used && used.costUsd / usd}
                text={`${used ? formatMoney(used.costUsd) : '?'} of ${formatMoney(usd)}`}
              />
            )}
          </article>
        )}
      </List>
    </Section>
  );
}

/** `used`: from 0, a share; null: not known. */
function Bound({ used, text }: { readonly used: number | null; readonly text: string }): VNode {
  return (
    <p class={`usage-bound ${used !== null && used >= 1 ? 'is-full' : ''}`}>
      {text}
      {used !== null && (
        <svg viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
          <rect class="bar-ground" width={100} height={1} />
          <rect class="bar-one" width={100 * Math.min(1, used)} height={1} />
        </svg>
      )}
    </p>
  );
}
