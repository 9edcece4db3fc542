import type { GatewayStatus } from '@parley/gateway/api';
import type { VNode } from 'preact';
import { useContext, useEffect } from 'preact/hooks';
import { AgentsHere } from './agents.tsx';
import { type Outcome, order, perform } from './gateway.ts';
import { hrefOf, type Route } from './route.ts';
import { useOperation, useWork, type Work } from './ui/data.tsx';
import { amount, counted } from './ui/format.ts';
import { ColumnView } from './ui/frames.tsx';
import { ActionButton, OutcomeNote, Section, Show } from './ui/widgets.tsx';
import { formatMoney } from './usage/figures.ts';
import { Who } from './who.ts';

/** The page asks again this often, in ms. */
const POLL_INTERVAL_MS = 10_000;

const HEALTH: Readonly<Record<GatewayStatus['health']['status'], string>> = {
  ready: 'Everything works.',
  degraded: 'It serves, but not everything works.',
  down: 'Messages get no answer.',
};

/** Whether it works, and the figures of a day: nothing that was said, and by nobody (D10). */
export function StatusView({ args }: Route): VNode {
  const status = useOperation('status/report', {}, POLL_INTERVAL_MS);
  const work = useWork();
  useEffect(() => {
    const [answer] = args;
    if (answer === undefined) return;
    // It counts once: a reload must not send it again.
    history.replaceState(null, '', hrefOf('status'));
    work.run(() => endSignIn(answer));
  }, []);
  return (
    <ColumnView name="status-view" title="Status">
      <OutcomeNote outcome={work.outcome} />
      <Show data={status}>{(report) => <StatusReport report={report} run={work.run} />}</Show>
    </ColumnView>
  );
}

interface ReportProps {
  readonly report: GatewayStatus;
  readonly run: Work['run'];
}

function StatusReport({ report, run }: ReportProps): VNode {
  const { health, trouble, channels, turns, today, outbox, dead, plugins, mcp } = report;
  const letters = dead && dead.refused + dead.uncertain + dead.unanswered;
  const broken = [...plugins, ...mcp].filter(({ works }) => !works);
  return (
    <>
      <p class={health.status === 'ready' ? 'outcome' : 'trouble'} role="status">
        {[HEALTH[health.status], ...health.reasons, ...(trouble ? [trouble] : [])].join(' ')}
      </p>
      <dl class="usage-totals">
        <Figure name="Turns of 24 hours" value={turns?.answered}>
          {turns && `${amount(turns.failed)} failed, ${amount(turns.stopped)} stopped`}
        </Figure>
        <Figure name="Tokens today" value={today?.tokens}>
          {today && formatMoney(today.costUsd)}
        </Figure>
        <Figure name="To be sent" value={outbox && outbox.pending + outbox.sending}>
          {outbox && `${counted(outbox.sent, 'part')} sent`}
        </Figure>
        <Figure name="Dead letters" value={letters}>
          {letters === 0 ? 'nothing to decide' : 'an owner decides'}
        </Figure>
      </dl>
      <Section title="Channels">
        <ol class="rows">
          {channels.map(({ channel, account, state }) => (
            <li key={`${channel}/${account}`}>
              <b>
                {channel}/{account}
              </b>
              <span>{'reason' in state ? `${state.kind}: ${state.reason}` : state.kind}</span>
            </li>
          ))}
        </ol>
      </Section>
      <AgentsSection />
      {broken.length > 0 && (
        <Section title="Plugins and tool servers that do not work">
          <ul>
            {broken.map(({ line, signIn }) => (
              <li key={line}>
                {line} {signIn !== undefined && <SignIn server={signIn} run={run} />}
              </li>
            ))}
          </ul>
        </Section>
      )}
    </>
  );
}

/** Sends this browser to where an owner signs in at a tool server. */
function SignIn({
  server,
  run,
}: {
  readonly server: string;
  readonly run: Work['run'];
}): VNode | null {
  const isOwner = useContext(Who)?.role === 'owner';
  const begin = async (): Promise<Outcome | undefined> => {
    const answer = await perform('mcp/sign-in', { server });
    if (answer.kind === 'failed') return { text: answer.reason, isTrouble: true };
    location.assign(answer.value.url);
    return undefined;
  };
  if (!isOwner) return null;
  return <ActionButton label="Sign in" name={`Sign in at ${server}`} onPress={() => run(begin)} />;
}

/** `search`: what the address was sent back with. */
function endSignIn(search: string): Promise<Outcome | undefined> {
  const query = new URLSearchParams(search);
  const given = (name: string) => query.get(name) ?? undefined;
  const answer = {
    ...{ state: given('state') ?? '', code: given('code'), iss: given('iss') },
    ...{ error: given('error'), errorDescription: given('error_description') },
  };
  return order('mcp/signed-in', answer, ({ text }) => text);
}

/** The section about the agents, where there are several (F14). */
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

interface FigureProps {
  readonly name: string;
  /** Absent where the database cannot be read. */
  readonly value: number | undefined;
  readonly children: string | undefined;
}

function Figure({ name, value, children }: FigureProps): VNode {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value === undefined ? '?' : amount(value)}</dd>
      <dd class="hint">{children}</dd>
    </div>
  );
}
