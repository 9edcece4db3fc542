import type { GatewayStatus } from '@parley/gateway/api';
import type { OutputOf } from '@parley/gateway/operations';
import type { VNode } from 'preact';
import { useContext, useEffect } from 'preact/hooks';
import { AgentsHere } from './agents.tsx';
import { hrefOf, type Route } from './route.ts';
import { ChannelsSection, ErrorsSection, HoursSection, SLOW_POLL_MS } from './status/recent.tsx';
import { endSignIn, SignIn } from './status/sign-in-again.tsx';
import { useOperation, useWork, type Work } from './ui/data.tsx';
import { amount, counted, spanOf } from './ui/format.ts';
import { ColumnView } from './ui/frames.tsx';
import { OutcomeNote, Section, Show } from './ui/widgets.tsx';
import { Caps } from './usage/caps.tsx';
import { latencyText, moneyText } from './usage/figures.ts';

/** How often the page refreshes, in ms. */
const POLL_INTERVAL_MS = 10_000;

const HEALTH: Readonly<Record<GatewayStatus['health']['status'], string>> = {
  ready: 'Everything works.',
  degraded: 'It is running, but not everything works.',
  down: 'Messages are not being answered.',
};

/** Shows whether everything works, with figures for a day, but no content or names (D10). */
export function StatusView({ args }: Route): VNode {
  const status = useOperation('status/report', {}, POLL_INTERVAL_MS);
  const usage = useOperation('usage/report', { by: 'channel', days: 1 }, SLOW_POLL_MS).value;
  const work = useWork();
  useEffect(() => {
    const [answer] = args;
    if (answer === undefined) return;
    // The address works only once: a reload must not submit it again.
    history.replaceState(null, '', hrefOf('status'));
    work.run(() => endSignIn(answer));
  }, []);
  return (
    <ColumnView name="status-view is-wide" title="Status">
      <OutcomeNote outcome={work.outcome} />
      <Show data={status}>
        {(report) => (
          <>
            <Health {...report} />
            <Figures report={report} usage={usage} />
            <Broken report={report} run={work.run} />
            <HoursSection />
            <ChannelsSection channels={report.channels} used={usage?.rows} />
            {usage && <Caps {...usage} />}
            <ErrorsSection />
            <AgentsSection />
          </>
        )}
      </Show>
    </ColumnView>
  );
}

/** Shows whether everything works, and the process that answered. */
function Health({ health, trouble, self }: GatewayStatus): VNode {
  const isReady = health.status === 'ready';
  return (
    <>
      <p class={isReady ? 'outcome' : 'trouble'} role="status">
        {[HEALTH[health.status], ...health.reasons, ...(trouble ? [trouble] : [])].join(' ')}
      </p>
      <p class="facts">
        Parley {self.version}, running for {spanOf(self.uptimeMs)},{' '}
        {amount(Math.round(self.memoryBytes / 1_000_000))} MB of memory
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
      <Figure name="Turns in the last 24 hours" value={turns && amount(turns.answered)}>
        {turns && `${amount(turns.failed)} failed, ${amount(turns.stopped)} stopped`}
      </Figure>
      <Figure name="Latency today" value={usage && latencyText(latency?.p50)}>
        {latency ? `median; 95th percentile ${latencyText(latency.p95)}` : 'no answers yet'}
      </Figure>
      <Figure name="Money today" value={usage && moneyText(usage.today)}>
        {usage && counted(usage.today.tokens, 'token')}
      </Figure>
      <Figure name="Waiting messages" value={waiting && amount(waiting.messages)}>
        {waiting &&
          (waiting.messages === 0 ? 'none' : `the oldest for ${spanOf(waiting.oldestMs)}`)}
      </Figure>
      <Figure name="To be sent" value={owed === undefined ? undefined : amount(owed)}>
        {outbox && `${counted(outbox.sent, 'part')} sent`}
      </Figure>
      <Figure name="Dead letters" value={letters === undefined ? undefined : amount(letters)}>
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
  readonly run: Work['run'];
}

function Broken({ report: { plugins, mcp }, run }: BrokenProps): VNode | null {
  const broken = [...plugins, ...mcp].filter(({ works }) => !works);
  if (broken.length === 0) return null;
  return (
    <Section title="Broken plugins and tool servers">
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

/** The section about the agents, when there are several (F14). */
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
              {model}; {routes.join('; ') || 'no rule leads to it'}
            </span>
          </li>
        ))}
      </ol>
    </Section>
  );
}
