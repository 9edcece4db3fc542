import type { GatewayStatus } from '@parley/gateway/api';
import { type ReadonlySignal, useComputed, useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import {
  AgentChoice,
  type AgentSummary,
  AgentsHere,
  findAnsweringAgent,
  toAgentChatId,
  useAgentSelection,
} from './agents.tsx';
import { type AgentInfo, ChatView } from './chat/chat-view.tsx';
import type { ChatClient } from './chat/client.ts';
import { isAnswering } from './chat/conversation.ts';
import { createRandomId } from './gateway.ts';
import { GuardedView } from './guarded-view.tsx';
import type { InboxState } from './inbox/inbox-state.ts';
import type { InboxRow } from './inbox/rows.ts';
import { Rail, useWaitingCounts, ViewLinks, type WaitingCounts } from './navigation.tsx';
import { listUnlinkedAccounts } from './pairing.tsx';
import { useShortcuts } from './palette/shortcuts.ts';
import { type Route, toHref } from './route.ts';
import { SignInView } from './sign-in.tsx';
import { LINK_LABELS, TopBar } from './top-bar.tsx';
import { useOperation } from './ui/data.tsx';
import { Lazy } from './ui/lazy.tsx';
import { type ConsoleView, findPlace, findView, type NavigationPlace, START } from './views.ts';
import { findMissingRole, type SignedInPerson, Who } from './who.ts';

const inboxColumn = async () => (await import('./inbox/inbox-column.tsx')).InboxColumn;
const paletteOf = async () => (await import('./palette/palette.tsx')).Palette;
const conversationPanel = async () => (await import('./inbox/panel.tsx')).ConversationPanel;

interface ShellProps {
  readonly client: ChatClient;
  readonly route: ReadonlySignal<Route>;
  readonly trouble: ReadonlySignal<string | null>;
}

/** Placeholder data until the gateway has answered. */
const SOME_AGENT: AgentInfo = { name: 'Parley', model: '', offline: false };

/**
 * How often (ms) the status is requested while an account is waiting for its phone or soon may be.
 */
const SOON_MS = 3_000;
const LATER_MS = 60_000;

/** The frame of the console, with the agent, the connection state, the navigation and the view. */
export function Shell({ client, route, trouble }: ShellProps): VNode {
  const link = useComputed(() => client.conversation.value.link).value;
  const isOnline = link === 'online';
  const status = useOperation('status/report', isOnline ? {} : null, (known) =>
    listUnlinkedAccounts(known?.channels ?? []).isMoving ? SOON_MS : LATER_MS,
  ).value;
  const usual = status === undefined ? SOME_AGENT : toAgentInfo(status.agent, status.model);
  const isOut = link === 'signed-out';
  const me = client.me.value;
  const hasChat = me === null || me.role === 'owner';
  const view = findView(route.value) ?? (hasChat ? undefined : findView({ view: START, args: [] }));
  const place = findPlace(view);
  const waiting = useWaitingCounts(me, isOnline);
  const mayAsk = isOnline && me !== null && findMissingRole(me, 'agents/list') === null;
  const agents = useAgentSelection(route.value, view?.agent, mayAsk);
  const chatting = getAgentInfo(findAnsweringAgent(agents.all, client.chat.value), usual);
  const agent = view === undefined ? chatting : getAgentInfo(agents.chosen, usual);
  const inbox = useInbox();
  const isInbox = place?.id === 'inbox' && hasChat;
  const isList = isInbox && view?.id === 'conversations' && route.value.args.length === 0;
  const stage = useRef<HTMLDivElement>(null);
  useInitialSetup(client, status, me);
  useEffect(() => {
    document.title = agent.name;
  }, [agent.name]);
  return (
    <Who.Provider value={me}>
      <AgentsHere.Provider value={agents}>
        <div class={`shell ${isInbox ? 'is-inbox' : ''} ${isList ? 'shows-list' : ''}`}>
          {/* Without a session, only the sign-in form is shown. */}
          {isOut ? (
            <SignInView trouble={trouble.value} />
          ) : (
            <TopBar
              agent={agent}
              choice={<AgentChoice agents={agents} route={route.value} kind={view?.agent} />}
              link={link}
              me={me}
              inbox={
                isInbox && me !== null && !isList
                  ? {
                      state: inbox,
                      isChat: view === undefined,
                      clearContext: () => client.send('/new'),
                      restart: () => client.restart(),
                    }
                  : null
              }
            >
              <button type="button" class="quiet skip" onClick={() => stage.current?.focus()}>
                Skip to content
              </button>
            </TopBar>
          )}
          {!isOut && me && (
            <ShellSides
              {...{ client, me, place, inbox, waiting, isOnline, isInbox }}
              route={route.value}
              shown={view?.within ?? view?.id ?? ''}
              chat={getFirstChatHref(agents.chosen)}
            />
          )}
          <div class="stage" ref={stage} tabIndex={-1}>
            <OwnerNotes status={status} isOnline={isOnline} hasChat={hasChat} shown={view?.id} />
            {/* The view is hidden rather than removed, so that drafts are kept. */}
            {hasChat && (
              <div class="view" hidden={isOut || view !== undefined}>
                <OpenChat key={client.chat.value} agent={chatting} {...{ client, inbox }} />
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
          {!isOut && isInbox && <ConversationSidePanel inbox={inbox} />}
          {!isOut && me && <Shortcuts {...{ client, me, hasChat, inbox, view }} at={route.value} />}
          <Announcement client={client} agent={chatting.name} />
        </div>
      </AgentsHere.Provider>
    </Who.Provider>
  );
}

interface SidesProps {
  readonly client: ChatClient;
  readonly route: Route;
  readonly me: SignedInPerson;
  readonly place: NavigationPlace | undefined;
  readonly inbox: InboxState;
  readonly waiting: WaitingCounts;
  readonly isOnline: boolean;
  readonly isInbox: boolean;
  /** The id of the view to highlight in the navigation. */
  readonly shown: string;
  readonly chat: string;
}

/** The navigation bar, and beside it either the inbox or the views of another place. */
function ShellSides(props: SidesProps): VNode {
  const { client, route, me, place, inbox, waiting, isOnline, isInbox, shown, chat } = props;
  const column = { route, chat: client.chat.value, isOnline, state: inbox };
  return (
    <>
      <Rail me={me} place={place} chat={chat} waiting={waiting} />
      {isInbox && <Lazy load={inboxColumn} props={column} />}
      {place !== undefined && place.id !== 'inbox' && (
        <ViewLinks me={me} place={place} shown={shown} waiting={waiting} />
      )}
    </>
  );
}

/** The current conversation's panel; nothing is shown until the conversation is in the list. */
function ConversationSidePanel({ inbox }: { readonly inbox: InboxState }): VNode | null {
  const row = inbox.row.value;
  if (row === null || row.isOnlyChat) return null;
  const { id, title } = row;
  return <Lazy load={conversationPanel} props={{ id, title, state: inbox }} />;
}

interface NotesProps {
  readonly status: GatewayStatus | undefined;
  readonly isOnline: boolean;
  readonly hasChat: boolean;
  /** The id of the view. */
  readonly shown: string | undefined;
}

/**
 * Notes that the owner sees in every view, about a phone to link or settings that are not in use.
 */
function OwnerNotes({ status, isOnline, hasChat, shown }: NotesProps): VNode {
  const { unlinked } = listUnlinkedAccounts((isOnline && status?.channels) || []);
  return (
    <>
      {unlinked.length > 0 && shown !== 'channels' && shown !== 'setup' && (
        <p class="card frame-note" role="status">
          {unlinked.map(({ id }) => id.replace('/default', '')).join(', ')} is waiting for its
          phone. <a href={toHref('channels', 'code')}>Show the code</a>
        </p>
      )}
      {isOnline && hasChat && status && shown !== 'settings' && (
        <SettingsNote {...status.settings} />
      )}
    </>
  );
}

/** Opens *Set up* if nothing is configured and the chat is empty. */
function useInitialSetup(
  client: ChatClient,
  status: GatewayStatus | undefined,
  me: SignedInPerson | null,
): void {
  useEffect(() => {
    if (status === undefined || location.hash !== '' || me?.role !== 'owner') return;
    if (isUnconfigured(status) && client.conversation.value.entries.length === 0) {
      location.replace(toHref('setup'));
    }
  }, [status === undefined]);
}

interface ShortcutsProps {
  readonly client: ChatClient;
  readonly me: SignedInPerson;
  readonly hasChat: boolean;
  readonly inbox: InboxState;
  readonly view: ConsoleView | undefined;
  readonly at: Route;
}

/** The page's keyboard shortcuts, and the palette that one of them opens. */
function Shortcuts(props: ShortcutsProps): VNode | null {
  const { client, me, hasChat, inbox, view, at } = props;
  const shown = useSignal<'palette' | 'help' | null>(null);
  useShortcuts((shortcut) => {
    if (shortcut === 'palette' || shortcut === 'help') shown.value = shortcut;
    else if (hasChat) handleShortcut(shortcut);
  });
  if (shown.value === null) return null;
  const conversation = (view?.id === 'conversations' && at.args[0]) || null;
  return <Lazy load={paletteOf} props={{ shown, client, me, inbox, conversation }} />;
}

/** Handles a navigation shortcut, to a new chat or to the inbox search. */
function handleShortcut(shortcut: 'new-chat' | 'search'): void {
  const field = document.querySelector<HTMLElement>('.find input');
  if (shortcut === 'new-chat') location.hash = toHref('chat', createRandomId());
  else if (field === null) location.hash = toHref('conversations');
  else field.focus();
}

interface OpenChatProps {
  readonly client: ChatClient;
  readonly agent: AgentInfo;
  readonly inbox: InboxState;
}

/** The open chat, together with its conversation once that is in the list. */
function OpenChat({ client, agent, inbox }: OpenChatProps): VNode {
  const row = inbox.row.value;
  const isKnown = row !== null && !row.isOnlyChat && row.chat === client.chat.value;
  return <ChatView client={client} agent={agent} conversation={isKnown ? row.id : null} />;
}

/** The shared state of the inbox, which is kept as long as the page is open. */
function useInbox(): InboxState {
  const row = useSignal<InboxRow | null>(null);
  const next = useSignal<InboxRow | null>(null);
  const round = useSignal(0);
  const isPanelOpen = useSignal(false);
  return { row, next, round, isPanelOpen };
}

function toAgentInfo(name: string, model: string): AgentInfo {
  return { name, model, offline: model.startsWith('offline') };
}

/** `usual` describes the default agent, for which the status contains more information. */
function getAgentInfo(agent: AgentSummary | undefined, usual: AgentInfo): AgentInfo {
  return agent === undefined || agent.isDefault ? usual : toAgentInfo(agent.title, agent.model);
}

function getFirstChatHref(agent: AgentSummary | undefined): string {
  const isUsual = agent === undefined || agent.isDefault;
  return isUsual ? toHref('chat') : toHref('chat', toAgentChatId(agent, 'main'));
}

/** Whether nothing has been configured yet. */
function isUnconfigured({ model, channels }: GatewayStatus): boolean {
  const own = channels.filter(({ channel }) => channel !== 'web' && channel !== 'terminal');
  return model.startsWith('offline') && own.length === 0;
}

/** A link to the settings, shown when the saved settings are not in use (D12). */
function SettingsNote({ afterRestart, problems }: GatewayStatus['settings']): VNode | null {
  if (problems.length === 0 && afterRestart.length === 0) return null;
  const text =
    problems.length > 0
      ? 'The settings file has an error, so the previous settings are still used.'
      : `${afterRestart.join(', ')}: saved, takes effect after a restart.`;
  return (
    <p class="card frame-note" role="status">
      {text} <a href={toHref('settings')}>Open the settings</a>
    </p>
  );
}

/** Changes that a screen reader announces. */
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
