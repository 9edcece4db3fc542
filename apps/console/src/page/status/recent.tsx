import type { GatewayStatus } from '@parley/gateway/api';
import type { OutputOf } from '@parley/gateway/operations';
import type { UsageFigures } from '@parley/store';
import type { VNode } from 'preact';
import { toHref } from '../route.ts';
import { useOperation } from '../ui/data.tsx';
import { formatCounted, formatMoment, formatTimeOfDay } from '../ui/format.ts';
import { List, Section } from '../ui/widgets.tsx';
import { DayChart } from '../usage/day-charts.tsx';
import { formatLatency } from '../usage/figures.ts';
import { useCanRead } from '../who.ts';

/** The interval (ms) between requests for the hourly figures and errors, which change slowly. */
export const SLOW_POLL_MS = 60_000;

/** A chart of answers and latency by hour. For screen readers, one sentence sums up the figures. */
export function HoursSection(): VNode | null {
  const hours = useOperation('usage/hours', {}, SLOW_POLL_MS).value;
  if (hours === undefined) return null;
  const days = hours.map((hour) => ({ ...hour, day: formatTimeOfDay(hour.from) }));
  const turns = hours.reduce((sum, hour) => sum + hour.turns, 0);
  const failed = hours.reduce((sum, hour) => sum + hour.failed, 0);
  return (
    <Section title="The last 12 hours">
      <p class="facts">
        {formatCounted(turns, 'turn')}, {failed} failed. Latency does not include the time that
        turns waited for a person.
      </p>
      {turns > 0 && (
        <div class="charts" aria-hidden="true">
          <DayChart
            title="Turns"
            parts={['answered or silent', 'failed']}
            days={days}
            valuesOf={(hour) => [hour.turns - hour.failed, hour.failed]}
            text={(value) => String(value)}
            alarm
          />
          <DayChart
            title="Latency"
            parts={['median', '95th percentile']}
            days={days}
            valuesOf={({ latency }) => [
              latency?.p50 ?? 0,
              (latency?.p95 ?? 0) - (latency?.p50 ?? 0),
            ]}
            text={formatLatency}
          />
        </div>
      )}
    </Section>
  );
}

interface ChannelsProps {
  readonly channels: GatewayStatus['channels'];
  /** Today's activity, keyed by channel id; absent while unknown. */
  readonly used: OutputOf<'usage/report'>['rows'] | undefined;
}

/** Each account with its state and its channel's activity today. */
export function ChannelsSection({ channels, used }: ChannelsProps): VNode {
  return (
    <Section title="Channels">
      <List look="rows" of={channels}>
        {({ channel, account, state }) => (
          <ChannelRow
            key={`${channel}/${account}`}
            name={account === 'default' ? channel : `${channel}/${account}`}
            state={state}
            did={used && describeActivity(used.find(({ name }) => name === channel))}
          />
        )}
      </List>
    </Section>
  );
}

interface RowProps {
  readonly name: string;
  readonly state: GatewayStatus['channels'][number]['state'];
  readonly did: string | undefined;
}

function ChannelRow({ name, state, did }: RowProps): VNode {
  const as = state.kind === 'connected' && state.as !== '' ? ` as ${state.as}` : '';
  return (
    <>
      <b>{name}</b>
      <span class={state.kind === 'connected' ? '' : `tone of-${state.kind}`}>
        {'reason' in state ? `${state.kind}: ${state.reason}` : `${state.kind}${as}`}
      </span>
      <span>{did}</span>
    </>
  );
}

/** The number of turns today, such as `12 turns, 1 failed`. */
function describeActivity(used: Pick<UsageFigures, 'turns' | 'failed'> | undefined): string {
  if (used === undefined || used.turns === 0) return 'nothing today';
  const failed = used.failed === 0 ? '' : `, ${used.failed} failed`;
  return `${formatCounted(used.turns, 'turn')} today${failed}`;
}

const SHOWN_ERRORS = 5;

/** The latest errors in the log, for people who may read it. */
export function ErrorsSection(): VNode | null {
  const mayRead = useCanRead('logs/read');
  const query = { level: 'error', limit: SHOWN_ERRORS } as const;
  const log = useOperation('logs/read', mayRead ? query : null, SLOW_POLL_MS).value;
  if (!mayRead || log === undefined) return null;
  return (
    <Section title="Last errors">
      {log.lines.length === 0 && <p class="facts">No errors in the log.</p>}
      <List look="rows" of={log.lines}>
        {({ at, text, component, process }) => (
          <ErrorRow key={`${at} ${text}`} at={at} text={text} where={component ?? process} />
        )}
      </List>
      {log.lines.length > 0 && (
        <p>
          <a href={toHref('logs')}>Open the log</a>
        </p>
      )}
    </Section>
  );
}

interface ErrorProps {
  readonly at: number;
  readonly text: string;
  readonly where: string;
}

function ErrorRow({ at, text, where }: ErrorProps): VNode {
  return (
    <>
      <span>{text}</span>
      <span class="facts">{where}</span>
      <time dateTime={new Date(at).toISOString()}>{formatMoment(at)}</time>
    </>
  );
}
