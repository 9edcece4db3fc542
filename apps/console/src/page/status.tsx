import type { GatewayStatus } from '@parley/gateway/api';
import type { OutputOf } from '@parley/gateway/operations';
import type { VNode } from 'preact';
import { useContext, useEffect } from 'preact/hooks';
import { AgentsHere } from './agents.tsx';
import { type Route, toHref } from './route.ts';
import { ChannelsSection, ErrorsSection, HoursSection, SLOW_POLL_MS } from './status/recent.tsx';
import { completeSignIn, SignIn } from './status/sign-in-again.tsx';
import { type ActionRunner, useActionRunner, useOperation } from './ui/data.tsx';
import { formatAmount, formatCounted, formatDuration } from './ui/format.ts';
import { ColumnView } from './ui/frames.tsx';
import { DataContent, OutcomeNote, Section } from './ui/widgets.tsx';
import { Caps } from './usage/caps.tsx';
import { formatCost, formatLatency } from './usage/figures.ts';

/** How often the page refreshes, in ms. */
const POLL_INTERVAL_MS = 10_000;

const HEALTH: Readonly<Record<GatewayStatus['health']['status'], string>> = {
  ready: 'Everything works.',
  degraded: 'Parley is running, but not everything works.',
  down: 'Messages are not being answered.',
};

/**
 * Shows whether everything works, with figures for the last day, but without content or names
 * (D10).
 */
export function StatusView({ args }: Route): VNode {
  const status = useOperation('status/report', {}, POLL_INTERVAL_MS);
  const usage = useOperation('usage/report', { by: 'channel', days: 1 }, SLOW_POLL_MS).value;
  const work = useActionRunner();
  useEffect(() => {
    const [answer] = args;
    if (answer === undefined) return;
    // The address works only once, so a reload must not submit it again.
    history.replaceState(null, '', toHref('status'));
    work.run(() => completeSignIn(answer));
  }, []);
  return (
    <ColumnView name="status-view is-wide" title="Status">
      <OutcomeNote outcome={work.outcome} />
      <DataContent data={status}>
        {(report) => (
          <>
            <HealthNote {...report} />
            <Figures report={report} usage={usage} />
            <BrokenParts report={report} run={work.run} />
            <HoursSection />
            <ChannelsSection channels={report.channels} used={usage?.rows} />
            {usage && <Caps {...usage} />}
            <ErrorsSection />
            <AgentsSection />
          </>
        )}
      </DataContent>
    </ColumnView>
  );
}

/** Shows whether everything works, and the process that answered. */
function HealthNote({ health, trouble, self }: GatewayStatus): VNode {
  const isReady = health.status === 'ready';
  return (
    <>
      <p class={isReady ? 'outcome' : 'trouble'} role="status">
        {[HEALTH[health.status], ...health.reasons, ...(trouble ? [trouble] : [])].join(' ')}
      </p>
      <p class="facts">
        Parley {self.version}, running for {formatDuration(self.uptimeMs)},{' '}
        {formatAmount(Math.round(self.memoryBytes / 1_000_000))} MB of memory
      </p>
    </>
  );
}

interface FiguresProps {
  readonly report: GatewayStatus;
  readonly usage: OutputOf<'usage/report'> | undefined;
}

function Figures({ report, usage }: FiguresProps): VNode {
  const { turns, waiting, outbox, dead } = report;
  const letters = dead && dead.refused + dead.uncertain + dead.unanswered;
  const latency = usage?.total.latency;
  const owed = outbox && outbox.pending + outbox.sending;
  return (
    <dl class="sums">
      <Figure name="Turns in the last 24 hours" value={turns && formatAmount(turns.answered)}>
        {turns && `${formatAmount(turns.failed)} failed, ${formatAmount(turns.stopped)} stopped`}
      </Figure>
      <Figure name="Latency today" value={usage && formatLatency(latency?.p50)}>
        {latency ? `median; 95th percentile ${formatLatency(latency.p95)}` : 'no answers yet'}
      </Figure>
      <Figure name="Money today" value={usage && formatCost(usage.today)}>
        {usage && formatCounted(usage.today.tokens, 'token')}
      </Figure>
      <Figure name="Waiting messages" value={waiting && formatAmount(waiting.messages)}>
        {waiting &&
          (waiting.messages === 0 ? 'none' : `the oldest for ${formatDuration(waiting.oldestMs)}`)}
      </Figure>
      <Figure name="To be sent" value={owed === undefined ? undefined : formatAmount(owed)}>
        {outbox && `${formatCounted(outbox.sent, 'part')} sent`}
      </Figure>
      <Figure name="Dead letters" value={letters === undefined ? undefined : formatAmount(letters)}>
        {letters === 0 ? 'none' : 'waiting for an owner’s decision'}
      </Figure>
    </dl>
  );
}

interface FigureProps {
  readonly name: string;
  /** Absent if the database cannot be read. */
  readonly value: string | undefined;
  readonly children: string | undefined;
}

function Figure({ name, value, children }: FigureProps): VNode {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value ?? '–'}</dd>
      <dd class="hint">{children}</dd>
    </div>
  );
}

interface BrokenProps {
  readonly report: GatewayStatus;
  readonly run: ActionRunner['run'];
}

function BrokenParts({ report: { plugins, mcp }, run }: BrokenProps): VNode | null {
  const broken = [...plugins, ...mcp].filter(({ works }) => !works);
  if (broken.length === 0) return null;
  return (
    <Section title="Broken plugins and MCP servers">
      <ul>
        {broken.map(({ line, signIn }) => (
          <li key={line}>
            {line} {signIn !== undefined && <SignIn server={signIn} run={run} />}
          </li>
        ))}
      </ul>
    </Section>
  );
}

/** The section about the agents if there are several (F14). */
function AgentsSection(): VNode | null {
  const { all } = useContext(AgentsHere);
  if (all.length === 0) return null;
  return (
    <Section title="Agents">
      <ol class="rows">
        {all.map(({ name, title, model, routes }) => (
          <li key={name}>
            <b>
              {title} ({name})
            </b>
            <span>
              {model}; {routes.join('; ') || 'no rule routes to this agent'}
            </span>
          </li>
        ))}
      </ol>
    </Section>
  );
}
