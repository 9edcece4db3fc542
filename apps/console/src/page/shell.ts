import type { GatewayStatus } from '@parley/gateway/api';
import { h, type VNode } from 'preact';
import { useEffect, useErrorBoundary, useState } from 'preact/hooks';
import { AuditView } from './audit.ts';
import { type AgentInfo, ChatView } from './chat/chat-view.ts';
import type { ChatClient } from './chat/client.ts';
import { useConversation } from './chat/client.ts';
import { type Conversation, isBusy, type Link } from './chat/conversation.ts';
import { ask } from './gateway.ts';
import { HeartbeatView } from './heartbeat.ts';
import { PairingView, usePairing } from './pairing.ts';
import { PromptView } from './prompt/prompt-view.ts';
import { QueueView } from './queue.ts';
import { hrefOf, type Route, useRoute } from './route.ts';
import { SessionsView, SignInView } from './sessions.ts';
import { SoulView } from './soul.ts';
import { ColumnView, Icon, Trouble } from './ui/widgets.ts';
import { WhyView } from './why.ts';

const LINK_LABELS: Readonly<Record<Link, string>> = {
  connecting: 'Connecting…',
  online: 'Connected',
  reconnecting: 'Reconnecting…',
  'signed-out': 'Signed out',
};

interface ShellProps {
  readonly client: ChatClient;
  /** Why the address that was opened did not sign in. */
  readonly trouble: string | null;
}

/** Before the gateway has answered. */
const SOME_AGENT: AgentInfo = { name: 'Parley', model: '', offline: false };

/** The frame of the console: the agent, the state of the connection, and the view. */
export function Shell({ client, trouble }: ShellProps): VNode {
  const conversation = useConversation(client);
  const { link } = conversation;
  const route = useRoute();
  const isOut = link === 'signed-out';
  // Without a session nothing else is shown.
  const view = isOut ? 'sign-in' : route.view;
  const [agent, setAgent] = useState(SOME_AGENT);
  const unlinked = usePairing(link === 'online');
  useEffect(() => {
    if (link !== 'online') return;
    ask<GatewayStatus>('/api/status').then((answer) => {
      if (answer.kind !== 'here') return;
      const { agent: name, model } = answer.value;
      setAgent({ name, model, offline: model.startsWith('offline') });
    });
  }, [link]);
  useEffect(() => {
    document.title = agent.name;
  }, [agent]);
  return h(
    'div',
    { class: 'shell' },
    isOut
      ? h(SignInView, { trouble })
      : h(TopBar, { agent, link, route, onNew: () => client.send('/new') }),
    unlinked.map((account) => h(PairingView, { key: account.id, account })),
    // Hidden, not removed: a draft stays.
    h(
      'div',
      { class: 'view', hidden: view !== 'chat' },
      h(ChatView, { client, conversation, agent }),
    ),
    !isOut && h(OtherView, { key: route.view, route }),
    h('p', { class: 'visually-hidden', role: 'status' }, announcement(conversation, agent)),
  );
}

/** Every view but the chat. */
function OtherView({ route }: { readonly route: Route }): VNode | null {
  // The answer of a gateway that was updated since this page was loaded may be another one than expected.
  const [error] = useErrorBoundary();
  if (error !== undefined) {
    const reason =
      'This view could not be shown. Reload the page: the gateway may be newer than it.';
    return h(ColumnView, { name: 'broken', title: 'Error', children: h(Trouble, { reason }) });
  }
  switch (route.view) {
    case 'chat':
      return null;
    case 'soul':
      return h(SoulView, { route });
    case 'why':
      return h(WhyView, { route });
    case 'heartbeat':
      return h(HeartbeatView, null);
    case 'queue':
      return h(QueueView, null);
    case 'audit':
      return h(AuditView, null);
    case 'sessions':
      return h(SessionsView, null);
    case 'prompt':
    case 'preview':
      return h(PromptView, { route });
  }
}

interface TopBarProps {
  readonly agent: AgentInfo;
  readonly link: Link;
  readonly route: Route;
  readonly onNew: () => void;
}

function TopBar({ agent, link, route, onNew }: TopBarProps): VNode {
  return h(
    'header',
    { class: 'top' },
    h('img', { src: '/page/icon.svg', alt: '', width: 34, height: 34 }),
    h(
      'div',
      { class: 'who' },
      h('h1', { class: 'clip' }, agent.name),
      h('p', { class: 'hint clip', title: agent.model }, agent.model),
    ),
    h(Views, { route }),
    h(
      'span',
      { class: `hint link is-${link}` },
      h('i', { 'aria-hidden': 'true' }),
      LINK_LABELS[link],
    ),
    route.view === 'chat' &&
      h(
        'button',
        {
          type: 'button',
          class: 'quiet fresh',
          onClick: onNew,
          'aria-label': 'New',
          title: 'Start a new session: earlier messages are left out of the prompt',
        },
        h(Icon, { name: 'fresh' }),
        h('span', null, 'New'),
      ),
    h(
      'a',
      {
        class: 'quiet fresh account',
        href: hrefOf({ view: 'sessions' }),
        title: 'Signed-in browsers, and signing out',
        'aria-label': 'Sessions',
        'aria-current': route.view === 'sessions' ? 'page' : undefined,
      },
      h(Icon, { name: 'key' }),
    ),
  );
}

const VIEWS = [
  { name: 'chat', label: 'Chat', href: hrefOf({ view: 'chat' }) },
  { name: 'prompt', label: 'Prompt', href: hrefOf({ view: 'prompt', turn: null, against: null }) },
  { name: 'why', label: 'Why', href: hrefOf({ view: 'why', message: null }) },
  { name: 'heartbeat', label: 'Heartbeat', href: hrefOf({ view: 'heartbeat' }) },
  { name: 'soul', label: 'Soul', href: hrefOf({ view: 'soul', version: null }) },
  { name: 'queue', label: 'Queue', href: hrefOf({ view: 'queue' }) },
  { name: 'audit', label: 'Audit', href: hrefOf({ view: 'audit' }) },
] as const;

/** The views of the console; labels are hidden where there is no room. */
function Views({ route }: { readonly route: Route }): VNode {
  return h(
    'nav',
    { class: 'views', 'aria-label': 'Views' },
    VIEWS.map(({ name, label, href }) =>
      h(
        'a',
        {
          key: name,
          class: 'quiet',
          href,
          title: label,
          'aria-current': tabOf(route) === name ? 'page' : undefined,
        },
        h(Icon, { name }),
        h('span', null, label),
      ),
    ),
  );
}

/** The view in the navigation that a route belongs to. */
function tabOf({ view }: Route): string {
  return view === 'preview' ? 'prompt' : view;
}

/** Changes that a screen reader reads out. */
function announcement(conversation: Conversation, { name }: AgentInfo): string {
  if (conversation.link !== 'online') return LINK_LABELS[conversation.link];
  return isBusy(conversation) ? `${name} is writing…` : '';
}
