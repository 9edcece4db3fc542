import type { GatewayStatus } from '@parley/gateway/api';
import type { OutputOf } from '@parley/gateway/operations';
import { type ReadonlySignal, useComputed, useSignal } from '@preact/signals';
import type { ComponentType, VNode } from 'preact';
import { useContext, useEffect, useErrorBoundary, useRef } from 'preact/hooks';
import {
  AgentChoice,
  AgentsHere,
  answererOf,
  chatIdWith,
  NoSuchAgent,
  type ShownAgent,
  useAgentsAt,
} from './agents.tsx';
import { type AgentInfo, ChatView } from './chat/chat-view.tsx';
import type { ChatClient } from './chat/client.ts';
import { isAnswering, type Link } from './chat/conversation.ts';
import { forgetEverything, order } from './gateway.ts';
import { pairingOf } from './pairing.tsx';
import { hrefOf, type Route } from './route.ts';
import { SignInView } from './sign-in.tsx';
import { DataScope, useData, useOperation } from './ui/data.tsx';
import { Icon, type IconName } from './ui/icon.tsx';
import { Trouble } from './ui/widgets.tsx';
import { GROUPS, START, type View, viewOf } from './views.ts';
import { type Me, missingRole, Who } from './who.ts';

const LINK_LABELS: Readonly<Record<Link, string>> = {
  connecting: 'Connecting…',
  online: 'Connected',
  reconnecting: 'Reconnecting…',
  'signed-out': 'Signed out',
};

interface ShellProps {
  readonly client: ChatClient;
  readonly route: ReadonlySignal<Route>;
  /** Why the address that was opened did not sign in. */
  readonly trouble: ReadonlySignal<string | null>;
}

/** Before the gateway has answered. */
const SOME_AGENT: AgentInfo = { name: 'Parley', model: '', offline: false };

/** While an account waits for its phone, or may have to soon, the status is asked for this often, in ms. */
const SOON_MS = 3_000;
const LATER_MS = 60_000;

/** The frame of the console: the agent, the state of the connection, the navigation and the view. */
export function Shell({ client, route, trouble }: ShellProps): VNode {
  const link = useComputed(() => client.conversation.value.link).value;
  const isOnline = link === 'online';
  const status = useOperation('status/report', isOnline ? {} : null, (known) =>
    pairingOf(known?.channels ?? []).isMoving ? SOON_MS : LATER_MS,
  ).value;
  const usual = status === undefined ? SOME_AGENT : infoOf(status.agent, status.model);
  const { unlinked } = pairingOf((isOnline && status?.channels) || []);
  const isOut = link === 'signed-out';
  const me = client.me.value;
  const hasChat = me === null || me.role === 'owner';
  const view = viewOf(route.value) ?? (hasChat ? undefined : viewOf({ view: START, args: [] }));
  const mayAsk = isOnline && me !== null && missingRole(me, '/api/agents/list') === null;
  const agents = useAgentsAt(route.value, view?.agent, mayAsk);
  const chatting = infoOfAgent(answererOf(agents.all, client.chat.value), usual);
  const agent = view === undefined ? chatting : infoOfAgent(agents.chosen, usual);
  const stage = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (status === undefined || location.hash !== '' || me?.role !== 'owner') return;
    if (isUntouched(status) && client.conversation.value.entries.length === 0) {
      location.replace(hrefOf('setup'));
    }
  }, [status === undefined]);
  useEffect(() => {
    document.title = agent.name;
  }, [agent.name]);
  return (
    <Who.Provider value={me}>
      <AgentsHere.Provider value={agents}>
        <div class="shell">
          {/* Without a session nothing else is shown. */}
          {isOut ? (
            <SignInView trouble={trouble.value} />
          ) : (
            <TopBar
              agent={agent}
              choice={<AgentChoice agents={agents} route={route.value} kind={view?.agent} />}
              link={link}
              isChat={view === undefined}
              client={client}
            >
              <button type="button" class="quiet skip" onClick={() => stage.current?.focus()}>
                Skip to content
              </button>
            </TopBar>
          )}
          <div class="body">
            {!isOut && me && (
              <Navigation
                me={me}
                shown={view?.within ?? view?.id ?? 'chat'}
                chat={firstChatWith(agents.chosen)}
                isOnline={isOnline}
              />
            )}
            <div class="stage" ref={stage} tabIndex={-1}>
              {unlinked.length > 0 && view?.id !== 'channels' && view?.id !== 'setup' && (
                <p class="frame-note" role="status">
                  {unlinked.map(({ id }) => id.replace('/default', '')).join(', ')} waits for its
                  phone. <a href={hrefOf('channels', 'code')}>Show the code</a>
                </p>
              )}
              {isOnline && hasChat && status && view?.id !== 'settings' && (
                <SettingsNote {...status.settings} />
              )}
              {/* Hidden, not removed: a draft stays. */}
              {hasChat && (
                <div class="view" hidden={isOut || view !== undefined}>
                  <ChatView key={client.chat.value} client={client} agent={chatting} />
                </div>
              )}
              {!isOut && view && me && (
                <GuardedView
                  key={`${view.id} ${route.value.agent}`}
                  view={view}
                  route={route.value}
                  me={me}
                />
              )}
            </div>
          </div>
          <Announcement client={client} agent={chatting.name} />
        </div>
      </AgentsHere.Provider>
    </Who.Provider>
  );
}

function infoOf(name: string, model: string): AgentInfo {
  return { name, model, offline: model.startsWith('offline') };
}

/** `usual`: the default one, of which the status says more. */
function infoOfAgent(agent: ShownAgent | undefined, usual: AgentInfo): AgentInfo {
  return agent === undefined || agent.isDefault ? usual : infoOf(agent.title, agent.model);
}

/** The address of the first chat with an agent. */
function firstChatWith(agent: ShownAgent | undefined): string {
  const isUsual = agent === undefined || agent.isDefault;
  return isUsual ? hrefOf('chat') : hrefOf('chat', chatIdWith(agent, 'main'));
}

/** Nothing is configured yet. */
function isUntouched({ model, channels }: GatewayStatus): boolean {
  const own = channels.filter(({ channel }) => channel !== 'web' && channel !== 'terminal');
  return model.startsWith('offline') && own.length === 0;
}

/** The way to the settings, where what is saved is not what is used (D12). */
function SettingsNote({ afterRestart, problems }: GatewayStatus['settings']): VNode | null {
  if (problems.length === 0 && afterRestart.length === 0) return null;
  const text =
    problems.length > 0
      ? 'The settings file has a mistake; the settings from before are used.'
      : `${afterRestart.join(', ')}: saved, but used from the next start only.`;
  return (
    <p class="frame-note" role="status">
      {text} <a href={hrefOf('settings')}>Open the settings</a>
    </p>
  );
}

interface GuardedProps {
  readonly view: View;
  readonly route: Route;
  readonly me: Me;
}

/** A view, for those whose role may see it; the gateway would refuse what it asks for. */
function GuardedView({ view, route, me }: GuardedProps): VNode | null {
  const needed = missingRole(me, view.reads);
  const { state } = useContext(AgentsHere);
  if (state === 'gone') return <NoSuchAgent route={route} />;
  if (state === 'asked') return null;
  if (needed === null) return <LazyView view={view} route={route} />;
  return (
    <main class="column-view">
      <div>
        <h2>{view.label ?? 'Closed'}</h2>
        <Trouble
          reason={`This needs the role ${needed}. You are signed in as ${me.name}, ${me.role}.`}
        />
      </div>
    </main>
  );
}

/** A view whose file is loaded when it is opened. */
function LazyView({ view, route }: { readonly view: View; readonly route: Route }): VNode {
  // The gateway may have been updated since this page was loaded: the file of the view may be gone, and
  // an answer may be another one than expected.
  const [error] = useErrorBoundary();
  const loaded = useSignal<ComponentType<Route> | null>(null);
  useEffect(() => {
    const show = (found: ComponentType<Route>): void => {
      loaded.value = found;
    };
    view.load().then(show, () => show(BrokenView));
  }, []);
  const Loaded = error === undefined ? loaded.value : BrokenView;
  return <DataScope>{Loaded && <Loaded {...route} />}</DataScope>;
}

function BrokenView(): VNode {
  const reason = 'This view could not be shown. Reload the page: the gateway may be newer than it.';
  return (
    <main class="column-view">
      <div>
        <h2>Error</h2>
        <Trouble reason={reason} again={() => location.reload()} />
      </div>
    </main>
  );
}

interface TopBarProps {
  readonly agent: AgentInfo;
  readonly choice: VNode;
  readonly link: Link;
  readonly isChat: boolean;
  readonly client: ChatClient;
  /** Before everything else, for the keyboard. */
  readonly children: VNode;
}

function TopBar({ agent, choice, link, isChat, client, children }: TopBarProps): VNode {
  return (
    <header class="top">
      {children}
      <button type="button" class="quiet menu" popovertarget="views" aria-label="Menu">
        <Icon name="menu" />
      </button>
      <img src="/page/icon.svg" alt="" width={34} height={34} />
      <div class="who">
        <h1 class="clip">{agent.name}</h1>
        <p class="hint clip" title={agent.model}>
          {agent.model}
        </p>
      </div>
      {choice}
      <span class={`hint link is-${link}`}>
        <i aria-hidden="true" />
        {LINK_LABELS[link]}
      </span>
      {isChat && (
        <button
          type="button"
          class="quiet fresh"
          onClick={() => client.send('/new')}
          aria-label="New"
          title="Start a new session: earlier messages are left out of the prompt"
        >
          <Icon name="fresh" />
          <span>New</span>
        </button>
      )}
    </header>
  );
}

/** The views of the console in their groups: beside the view, or in a narrow window behind a button. */
function Navigation({
  me,
  shown,
  chat,
  isOnline,
}: {
  readonly me: Me;
  readonly shown: string;
  /** The address of the chat. */
  readonly chat: string;
  readonly isOnline: boolean;
}): VNode {
  const groups = GROUPS.map(({ name, views }) => ({
    name,
    views: views.filter(({ reads }) => missingRole(me, reads) === null),
  })).filter(({ views }) => views.length > 0);
  const box = useRef<HTMLElement>(null);
  const link = (id: string, label: string, icon: IconName, href = hrefOf(id)): VNode => (
    <a
      key={id}
      class="quiet"
      href={href}
      aria-current={shown === id ? 'page' : undefined}
      onClick={() => box.current?.hidePopover()}
    >
      <Icon name={icon} />
      {label}
      {id === 'channels' && isOnline && (
        <WaitingBadge<OutputOf<'channels/report'>>
          path="/api/channels/report"
          count={({ waiting }) => waiting.length}
          what={['person waits', 'people wait']}
        />
      )}
      {id === 'approvals' && isOnline && (
        <WaitingBadge<OutputOf<'approvals/waiting'>>
          path="/api/approvals/waiting"
          count={({ approvals }) => approvals.length}
          what={['question waits', 'questions wait']}
        />
      )}
    </a>
  );
  return (
    <nav id="views" class="views" aria-label="Views" popover="auto" ref={box}>
      {me.role === 'owner' && link('chat', 'Chat', 'chat', chat)}
      {groups.map(({ name, views }) => (
        <div key={name} role="group" aria-label={name}>
          <p class="hint" aria-hidden="true">
            {name}
          </p>
          {views.map(({ id, label, icon }) => label !== null && link(id, label, icon))}
        </div>
      ))}
      {me.name !== null && (
        <div role="group" aria-label="Signed in">
          <p class="hint">
            {me.name} · {me.role}
          </p>
          <button type="button" class="quiet" onClick={() => void signOut()}>
            <Icon name="key" />
            Sign out
          </button>
        </div>
      )}
    </nav>
  );
}

async function signOut(): Promise<void> {
  if ((await order('sessions/leave', {})) === undefined) forgetEverything();
}

/** The interval at which pending decisions are requested, in ms. */
const WAITING_MS = 15_000;

interface BadgeProps<Report> {
  readonly path: string;
  readonly count: (report: Report) => number;
  /** One of them, and several, for a screen reader. */
  readonly what: readonly [one: string, several: string];
}

/** The number of entries that wait for the owner (F05, G05); nothing for none. */
function WaitingBadge<Report>({ path, count, what }: BadgeProps<Report>): VNode | null {
  const { value } = useData<Report>(path, WAITING_MS);
  const waiting = value === undefined ? 0 : count(value);
  if (waiting === 0) return null;
  return (
    <span class="badge">
      {waiting}
      <span class="visually-hidden"> {waiting === 1 ? what[0] : what[1]}</span>
    </span>
  );
}

/** Changes that a screen reader reads out. */
function Announcement(props: { readonly client: ChatClient; readonly agent: string }): VNode {
  const conversation = props.client.conversation.value;
  const { link } = conversation;
  const writes = isAnswering(conversation) ? `${props.agent} is writing…` : '';
  return (
    <p class="visually-hidden" role="status">
      {link === 'online' ? writes : LINK_LABELS[link]}
    </p>
  );
}
