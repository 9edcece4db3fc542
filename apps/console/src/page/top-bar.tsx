import type { VNode } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type { AgentInfo } from './chat/chat-view.tsx';
import type { Link } from './chat/conversation.ts';
import { forgetEverything, order } from './gateway.ts';
import type { InboxState } from './inbox/inbox-state.ts';
import { keepMarks, renamed, toggled } from './inbox/row-marks.ts';
import type { InboxRow, RowMarks } from './inbox/rows.ts';
import { hrefOf } from './route.ts';
import { Icon } from './ui/icon.tsx';
import type { Me } from './who.ts';

export const LINK_LABELS: Readonly<Record<Link, string>> = {
  connecting: 'Connecting…',
  online: 'Connected',
  reconnecting: 'Reconnecting…',
  'signed-out': 'Signed out',
};

interface TopBarProps {
  readonly agent: AgentInfo;
  readonly choice: VNode;
  readonly link: Link;
  readonly me: Me | null;
  /** The shown part of the inbox; null: another place is shown. */
  readonly inbox: {
    readonly state: InboxState;
    /** A chat of this page is shown, no conversation of another channel. */
    readonly isChat: boolean;
    readonly clearContext: () => void;
  } | null;
  /** Before everything else, for the keyboard. */
  readonly children: VNode;
}

/** The head of the page: whose it is, or the conversation that is shown, and the state of the connection. */
export function TopBar({ agent, choice, link, me, inbox, children }: TopBarProps): VNode {
  const row = inbox?.state.row.value ?? null;
  const isOther = inbox !== null && !inbox.isChat && row !== null;
  return (
    <header class="top">
      {children}
      {inbox !== null && (
        <a class="quiet to-inbox" href={hrefOf('conversations')} aria-label="All conversations">
          <Icon name="back" />
        </a>
      )}
      <div class="who">
        <h1 class="clip">{isOther ? row.title : agent.name}</h1>
        <p class="hint clip" title={agent.model}>
          {isOther ? `${row.place} · answered by ${agent.name}` : agent.model}
        </p>
      </div>
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
          <button type="button" class="quiet" onClick={() => void signOut()}>
            <Icon name="key" />
            Sign out
          </button>
        </span>
      )}
      {inbox !== null && <ChatMenu {...inbox} row={row} />}
    </header>
  );
}

async function signOut(): Promise<void> {
  if ((await order('sessions/leave', {})) === undefined) forgetEverything();
}

interface MenuProps extends NonNullable<TopBarProps['inbox']> {
  readonly row: InboxRow | null;
}

/** The menu of the chat that is shown. */
function ChatMenu({ state, isChat, clearContext, row }: MenuProps): VNode | null {
  const box = useRef<HTMLDivElement>(null);
  if (!isChat && row === null) return null;
  const done = (): void => box.current?.hidePopover();
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
      <div id="chat-menu" class="menu" popover="auto" ref={box} role="group" aria-label="Chat">
        {row !== null && (
          <MarkItems
            key={row.id}
            row={row}
            change={(next) => {
              state.marks.value = next(state.marks.value);
              keepMarks(localStorage, state.marks.value);
              done();
            }}
          />
        )}
        {isChat && (
          <button
            type="button"
            class="quiet"
            title="Earlier messages stay here, but the agent no longer sees them"
            onClick={() => {
              clearContext();
              done();
            }}
          >
            Clear context
          </button>
        )}
        {row !== null && (
          <button
            type="button"
            class="quiet"
            onClick={() => {
              state.isPanelOpen.value = !state.isPanelOpen.value;
              done();
            }}
          >
            Details
          </button>
        )}
      </div>
    </>
  );
}

interface ItemsProps {
  readonly row: InboxRow;
  readonly change: (next: (marks: RowMarks) => RowMarks) => void;
}

/** Pins, renames and archives a row in this browser. */
function MarkItems({ row, change }: ItemsProps): VNode {
  const [isNamed, setNamed] = useState(false);
  const { id, isPinned, isArchived, title } = row;
  const onSubmit = (event: SubmitEvent): void => {
    event.preventDefault();
    if (!(event.currentTarget instanceof HTMLFormElement)) return;
    const name = String(new FormData(event.currentTarget).get('name') ?? '');
    change((marks) => renamed(marks, id, name));
    setNamed(false);
  };
  return (
    <>
      <button
        type="button"
        class="quiet"
        onClick={() => change((marks) => toggled(marks, 'pinned', id))}
      >
        {isPinned ? 'Unpin' : 'Pin'}
      </button>
      {isNamed ? (
        <form class="stack" onSubmit={onSubmit}>
          <input
            class="field"
            name="name"
            aria-label="Name of the chat in this browser"
            maxLength={80}
            defaultValue={title}
            autofocus
          />
          <button type="submit" class="quiet">
            Rename
          </button>
        </form>
      ) : (
        <button type="button" class="quiet" onClick={() => setNamed(true)}>
          Rename…
        </button>
      )}
      <button
        type="button"
        class="quiet"
        onClick={() => change((marks) => toggled(marks, 'archived', id))}
      >
        {isArchived ? 'Move to the inbox' : 'Archive'}
      </button>
    </>
  );
}
