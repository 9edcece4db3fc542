import type { WebChat } from '@parley/channels/web';
import type { VNode } from 'preact';
import { useContext, useRef } from 'preact/hooks';
import { AgentsHere, chatIdWith, useRowAgents } from '../agents.tsx';
import { randomId } from '../gateway.ts';
import { hrefOf } from '../route.ts';
import { DataScope, useData } from '../ui/data.tsx';
import { momentOf } from '../ui/format.ts';
import { Icon } from '../ui/icon.tsx';
import { unseenChats } from './seen-chats.ts';

/** The chats of the page are asked for this often while it is visible, in ms. */
const POLL_INTERVAL_MS = 10_000;

/** Everything the list needs. */
interface ChatListProps {
  /** The one that is shown. */
  readonly chat: string;
  /** When its newest answer came, in ms; 0: there is none. */
  readonly answeredAt: number;
  readonly isOnline: boolean;
}

/** The person's chats, behind a button, and a way to start another one. */
export function ChatList(props: ChatListProps): VNode {
  return (
    <DataScope>
      <Chats {...props} />
    </DataScope>
  );
}

function Chats({ chat, answeredAt, isOnline }: ChatListProps): VNode {
  const box = useRef<HTMLElement>(null);
  const { titleOf } = useRowAgents();
  const path = isOnline ? '/channels/web/default/chats' : null;
  const known = useData<readonly WebChat[]>(path, POLL_INTERVAL_MS).value ?? [];
  const none = { id: 'main', title: 'First chat', at: 0, answeredAt: 0 };
  const first = known.find(({ id }) => id === 'main') ?? none;
  const chats = known.some(({ id }) => id === 'main') ? known : [...known, first];
  // Not before it is clear who reads: nothing is stored in the browser of someone who is signed out.
  const unseen: ReadonlySet<string> = isOnline
    ? unseenChats(known, { id: chat, answeredAt }, localStorage)
    : new Set();
  const title = chats.find(({ id }) => id === chat)?.title ?? 'Empty chat';
  return (
    <div class="chat-bar column">
      <button
        type="button"
        class="quiet"
        popovertarget="chats"
        aria-label={`Chats: ${title}${unseen.size === 0 ? '' : `, ${unseen.size} with new answers`}`}
      >
        <Icon name="talks" />
        <span class="clip">{title}</span>
        {unseen.size > 0 && <span class="badge">{unseen.size}</span>}
      </button>
      <AnotherChat />
      <nav id="chats" class="chats" popover="auto" ref={box} aria-label="Your chats">
        {chats.map(({ id, title: name, at }) => (
          <a
            key={id}
            class="quiet"
            href={id === 'main' ? hrefOf('chat') : hrefOf('chat', id)}
            aria-current={id === chat ? 'page' : undefined}
            onClick={() => box.current?.hidePopover()}
          >
            <span class="clip">{name}</span>
            {titleOf(id) !== null && <span class="hint clip">{titleOf(id)}</span>}
            {unseen.has(id) && <span class="badge">new</span>}
            {at > 0 && <span class="hint">{momentOf(at)}</span>}
          </a>
        ))}
      </nav>
    </div>
  );
}

/** The way to another chat; where there are several agents one chooses with whom. */
function AnotherChat(): VNode {
  const box = useRef<HTMLElement>(null);
  const { all } = useContext(AgentsHere);
  if (all.length === 0) {
    return (
      <a class="quiet" href={hrefOf('chat', randomId())} title="Start another chat">
        <Icon name="fresh" />
        <span>Another chat</span>
      </a>
    );
  }
  return (
    <>
      <button type="button" class="quiet" popovertarget="new-chat">
        <Icon name="fresh" />
        <span>New chat with…</span>
      </button>
      <nav id="new-chat" class="chats" popover="auto" ref={box} aria-label="New chat with">
        {all.map((agent) => (
          <a
            key={agent.name}
            class="quiet"
            href={hrefOf('chat', chatIdWith(agent, randomId()))}
            onClick={() => box.current?.hidePopover()}
          >
            <span class="clip">{agent.title}</span>
            <span class="hint clip">{agent.model}</span>
          </a>
        ))}
      </nav>
    </>
  );
}
