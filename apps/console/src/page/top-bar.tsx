import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { AgentInfo } from './chat/chat-view.tsx';
import type { LinkState } from './chat/conversation.ts';
import { clearStoredData, runOperation } from './gateway.ts';
import type { InboxState } from './inbox/inbox-state.ts';
import type { InboxRow } from './inbox/rows.ts';
import { toHref } from './route.ts';
import { Icon } from './ui/icon.tsx';
import { Lazy } from './ui/lazy.tsx';
import { ProblemNote } from './ui/widgets.tsx';
import type { SignedInPerson } from './who.ts';

const chatMenu = async () => (await import('./inbox/chat-menu.tsx')).ChatMenu;

export const LINK_LABELS: Readonly<Record<LinkState, string>> = {
  connecting: 'Connecting…',
  online: 'Connected',
  reconnecting: 'Reconnecting…',
  'signed-out': 'Signed out',
};

interface TopBarProps {
  readonly agent: AgentInfo;
  readonly choice: VNode;
  readonly link: LinkState;
  readonly me: SignedInPerson | null;
  /** The state of the inbox; null if another place is shown. */
  readonly inbox: {
    readonly state: InboxState;
    /** Whether a chat on this page is shown, rather than a conversation on another channel. */
    readonly isChat: boolean;
    readonly clearContext: () => void;
    /** Shows the chat on the page without the deleted messages. */
    readonly restart: () => void;
  } | null;
  /** The link comes first, for keyboard users. */
  readonly children: VNode;
}

/** The page's top bar: the agent's name or the current conversation, and the connection state. */
export function TopBar({ agent, choice, link, me, inbox, children }: TopBarProps): VNode {
  const row = inbox?.state.row.value ?? null;
  const isOther = inbox !== null && !inbox.isChat && row !== null;
  const { failure, isLeaving, signOut } = useSignOut();
  return (
    <header class="top">
      {children}
      {inbox !== null && (
        <a class="quiet to-inbox" href={toHref('conversations')} aria-label="All conversations">
          <Icon name="back" />
        </a>
      )}
      <Heading agent={agent} row={row} isOther={isOther} />
      {choice}
      {isOther && (
        <>
          <span class="badge wide">{row.mode} mode</span>
          {row.model !== null && <span class="badge wide">{row.model}</span>}
        </>
      )}
      <span class={`hint link is-${link}`}>
        <i aria-hidden="true" />
        {LINK_LABELS[link]}
      </span>
      {me !== null && me.name !== null && (
        <span class="row hint">
          <span>
            {me.name} · {me.role}
          </span>
          <button type="button" class="quiet" disabled={isLeaving} onClick={() => void signOut()}>
            <Icon name="key" />
            Sign out
          </button>
        </span>
      )}
      {inbox !== null && <MenuButton {...inbox} row={row} />}
      <ProblemNote reason={failure && `You are still signed in. ${failure}`} />
    </header>
  );
}

interface HeadingProps extends Pick<TopBarProps, 'agent'> {
  readonly row: InboxRow | null;
  /** Whether the row is a conversation on another channel. */
  readonly isOther: boolean;
}

/** The agent's name until the person has named the chat; for other conversations, the title. */
function Heading({ agent, row, isOther }: HeadingProps): VNode {
  // The row may still belong to the conversation that was shown before.
  const name = row === null || row.chat === null ? null : row.name;
  const title = isOther ? row?.title : name;
  const facts = name === null ? agent.model : `${agent.name} · ${agent.model}`;
  return (
    <div class="who">
      <h1 class="clip">{title ?? agent.name}</h1>
      <p class="hint clip" title={agent.model}>
        {isOther ? `${row?.place} · answered by ${agent.name}` : facts}
      </p>
    </div>
  );
}

/** Signs out of this browser; `failure` is the reason if that failed. */
function useSignOut() {
  const [failure, setFailure] = useState<string | null>(null);
  const [isLeaving, setLeaving] = useState(false);
  const signOut = async (): Promise<void> => {
    setLeaving(true);
    const failed = await runOperation('sessions/leave', {});
    setLeaving(false);
    setFailure(failed?.text ?? null);
    if (failed === undefined) clearStoredData();
  };
  return { failure, isLeaving, signOut };
}

interface MenuProps extends NonNullable<TopBarProps['inbox']> {
  readonly row: InboxRow | null;
}

/** The button that opens the current chat's menu. */
function MenuButton(props: MenuProps): VNode | null {
  if (!props.isChat && props.row === null) return null;
  return (
    <>
      <button
        type="button"
        class="quiet chat-menu"
        popovertarget="chat-menu"
        aria-label="Chat menu"
        title="Chat menu"
      >
        <Icon name="menu" />
      </button>
      <Lazy load={chatMenu} props={props} />
    </>
  );
}
