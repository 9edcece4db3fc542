import { h, type VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { ChatClient } from './chat/chat-client.ts';
import { type Conversation, isBusy, type Link } from './chat/conversation.ts';
import { useConversation } from './chat/use-conversation.ts';
import { type AgentInfo, askAgentInfo, SOME_AGENT } from './gateway-info.ts';
import { usePairing } from './pairing/use-pairing.ts';
import { hrefOf, type Route, useRoute } from './route.ts';
import { Icon } from './ui/icons.ts';
import { AuditView } from './views/audit-view.ts';
import { ChatView } from './views/chat-view.ts';
import { HeartbeatView } from './views/heartbeat-view.ts';
import { PairingView } from './views/pairing-view.ts';
import { PromptView } from './views/prompt-view.ts';
import { QueueView } from './views/queue-view.ts';
import { SessionsView } from './views/sessions-view.ts';
import { SignInView } from './views/sign-in-view.ts';
import { SoulView } from './views/soul-view.ts';
import { WhyView } from './why/why-view.ts';

const LINK_WORDS: Readonly<Record<Link, string>> = {
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

/** The frame of the console: who answers, how the line is, and the view below. */
export function Shell({ client, trouble }: ShellProps): VNode {
  const conversation = useConversation(client);
  const { link } = conversation;
  const route = useRoute();
  const isOut = link === 'signed-out';
  // Without a session there is nothing else to see.
  const view = isOut ? 'sign-in' : route.view;
  const [agent, setAgent] = useState(SOME_AGENT);
  const unlinked = usePairing(link === 'online');
  useEffect(() => {
    if (link !== 'online') return;
    askAgentInfo().then((info) => {
      if (info) setAgent(info);
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
    // Hidden, not gone: what is being written stays.
    h(
      'div',
      { class: 'view', hidden: view !== 'chat' },
      h(ChatView, { client, conversation, agent }),
    ),
    !isOut && h(OtherView, { route }),
    h('p', { class: 'visually-hidden', role: 'status' }, announcement(conversation, agent)),
  );
}

/** Every view but the chat. */
function OtherView({ route }: { readonly route: Route }): VNode | null {
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
    case 'trial':
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
      h('h1', null, agent.name),
      h('p', { class: 'model', title: agent.model }, agent.model),
    ),
    h(Views, { route }),
    h('span', { class: `link is-${link}` }, h('i', { 'aria-hidden': 'true' }), LINK_WORDS[link]),
    route.view === 'chat' &&
      h(
        'button',
        {
          type: 'button',
          class: 'fresh',
          onClick: onNew,
          title: 'Start afresh: what was said is left out from now on',
        },
        h(Icon, { name: 'fresh' }),
        h('span', null, 'New'),
      ),
    h(
      'a',
      {
        class: 'fresh account',
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
  { name: 'chat', words: 'Chat', href: hrefOf({ view: 'chat' }) },
  { name: 'prompt', words: 'Prompt', href: hrefOf({ view: 'prompt', turn: null, against: null }) },
  { name: 'why', words: 'Why', href: hrefOf({ view: 'why', message: null }) },
  { name: 'heartbeat', words: 'Heartbeat', href: hrefOf({ view: 'heartbeat' }) },
  { name: 'soul', words: 'Soul', href: hrefOf({ view: 'soul', version: null }) },
  { name: 'queue', words: 'Queue', href: hrefOf({ view: 'queue' }) },
  { name: 'audit', words: 'Audit', href: hrefOf({ view: 'audit' }) },
] as const;

/** What the console shows; the words are hidden where there is no room. */
function Views({ route }: { readonly route: Route }): VNode {
  return h(
    'nav',
    { class: 'views', 'aria-label': 'Views' },
    VIEWS.map(({ name, words, href }) =>
      h(
        'a',
        {
          key: name,
          href,
          title: words,
          'aria-current': placeOf(route) === name ? 'page' : undefined,
        },
        h(Icon, { name }),
        h('span', null, words),
      ),
    ),
  );
}

/** Which of the views a route belongs to. */
function placeOf({ view }: Route): string {
  return view === 'trial' ? 'prompt' : view;
}

/** What a screen reader says of changes that others see. */
function announcement(conversation: Conversation, { name }: AgentInfo): string {
  if (conversation.link !== 'online') return LINK_WORDS[conversation.link];
  return isBusy(conversation) ? `${name} is writing…` : '';
}
