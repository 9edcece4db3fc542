import type { SimulatedChat } from '@parley/simulators';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { PlayerContext, PlayState } from './play.ts';

interface Props {
  readonly state: PlayState;
  readonly play: PlayerContext;
}

const HEADINGS = [
  ['group', 'Groups'],
  ['direct', 'Direct chats'],
] as const;

/** All chats, and a form to create more. */
export function ChatList({ state, play }: Props): VNode {
  const { chats } = play.world;
  return (
    <nav class="chats" aria-label="Chats">
      {HEADINGS.map(([kind, heading]) => (
        <section key={kind}>
          <h2>{heading}</h2>
          <ul>
            {chats
              .filter((chat) => chat.kind === kind)
              .flatMap((chat) => [chat, ...chats.filter(({ parent }) => parent === chat.key)])
              .map((chat) => (
                <ChatEntry key={chat.key} chat={chat} state={state} play={play} />
              ))}
          </ul>
        </section>
      ))}
      <NewItems state={state} play={play} />
    </nav>
  );
}

function ChatEntry({ chat, state, play }: Props & { readonly chat: SimulatedChat }): VNode {
  const last = chat.messages.at(-1);
  const isHere = chat.key === play.chat.key;
  const name = last === undefined ? '' : `${play.people.get(last.from) ?? last.from}: `;
  return (
    <li class={chat.kind}>
      <button
        type="button"
        aria-current={isHere ? 'true' : undefined}
        onClick={() => state.open(chat)}
      >
        <Avatar name={chat.title} of={chat.key} />
        <b class="clip">{chat.kind === 'thread' ? `# ${chat.title}` : chat.title}</b>
        <small class="clip">
          {chat.isTyping ? 'the bot is typing…' : last && `${name}${last.text || 'a file'}`}
          {!chat.isBotIn && ' (bot absent)'}
        </small>
      </button>
    </li>
  );
}

/** A round avatar with the first letter, in a color derived from the name. */
export function Avatar({ name, of }: { readonly name: string; readonly of: string }): VNode {
  const sum = [...of].reduce((all, letter) => all + (letter.codePointAt(0) ?? 0), 0);
  const letter = [...name.replace(/^[@#]/, '')][0]?.toUpperCase() ?? '?';
  return (
    <span class={`sign color-${sum % 6}`} aria-hidden="true">
      {letter}
    </span>
  );
}

function NewItems({ state, play: { world, chat, speaker } }: Props): VNode {
  const [name, setName] = useState('');
  const group = chat.kind === 'thread' ? chat.parent : chat.key;
  const isGroup = chat.kind !== 'direct';
  const make = async (kind: 'person' | 'group' | 'thread'): Promise<void> => {
    const members = world.people.map(({ key }) => key);
    const made = await state.act(
      kind === 'person'
        ? { kind, name }
        : kind === 'group'
          ? { kind, name, members }
          : { kind, name, chat: group ?? chat.key, from: speaker.key },
    );
    if (made === undefined) return;
    setName('');
    state.chat.value = made;
  };
  const button = (kind: 'person' | 'group' | 'thread', label: string): VNode => (
    <button type="button" disabled={name.trim() === ''} onClick={() => make(kind)}>
      {label}
    </button>
  );
  return (
    <form class="row" onSubmit={(event) => event.preventDefault()}>
      <label>
        A new name
        <input
          value={name}
          maxLength={60}
          onInput={(event) => setName(event.currentTarget.value)}
        />
      </label>
      {button('person', 'Add person')}
      {button('group', 'Add group')}
      {world.can.thread && isGroup && button('thread', 'Open thread')}
    </form>
  );
}
