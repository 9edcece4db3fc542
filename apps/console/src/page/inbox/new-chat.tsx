import type { VNode } from 'preact';
import { useContext, useRef } from 'preact/hooks';
import { AgentsHere, toAgentChatId } from '../agents.tsx';
import { createRandomId } from '../gateway.ts';
import { toHref } from '../route.ts';
import { Icon } from '../ui/icon.tsx';

/** Starts another chat. If there are several agents, the person chooses one. */
export function NewChat(): VNode {
  const box = useRef<HTMLElement>(null);
  const { all } = useContext(AgentsHere);
  if (all.length === 0) {
    return (
      <a class="quiet" href={toHref('chat', createRandomId())} title="New chat">
        <Icon name="fresh" />
        <span class="visually-hidden">New chat</span>
      </a>
    );
  }
  return (
    <>
      <button type="button" class="quiet" popovertarget="new-chat" aria-label="New chat with…">
        <Icon name="fresh" />
      </button>
      <nav id="new-chat" class="menu" popover="auto" ref={box} aria-label="New chat with">
        {all.map((agent) => (
          <a
            key={agent.name}
            class="quiet"
            href={toHref('chat', toAgentChatId(agent, createRandomId()))}
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
