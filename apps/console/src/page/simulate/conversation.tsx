import type { SimulatedMessage } from '@parley/simulators';
import type { VNode } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { download, fetchFile } from '../gateway.ts';
import { Avatar } from './chat-list.tsx';
import { isWorkplace, type PlayerContext, type PlayState } from './play.ts';

interface Props {
  readonly state: PlayState;
  readonly play: PlayerContext;
}
type MessageProps = Props & { readonly message: SimulatedMessage };

/** If the end is farther away than this, in pixels, the person is reading older messages. */
const NEAR = 120;
const EMOJIS = ['👍', '❤', '🔥', '😁'] as const;

/** The messages in a chat, displayed as on the platform. */
export function Conversation({ state, play }: Props): VNode {
  const { world, chat, speaker, people } = play;
  const box = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  const shown = chat.messages.filter(
    ({ onlyFor }) => onlyFor === undefined || onlyFor === speaker.key,
  );
  const end = JSON.stringify([shown.length, shown.at(-1)?.html.length, chat.isTyping]);
  useLayoutEffect(() => {
    const { current } = box;
    if (current !== null && isAtEnd.current) current.scrollTop = current.scrollHeight;
  }, [end]);
  useEffect(() => {
    // The command menu takes up space from the messages.
    const observer = new ResizeObserver(() => {
      if (box.current && isAtEnd.current) box.current.scrollTop = box.current.scrollHeight;
    });
    if (box.current) observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  const onScroll = (): void => {
    const { current } = box;
    if (current === null) return;
    isAtEnd.current = current.scrollHeight - current.scrollTop - current.clientHeight < NEAR;
  };
  const members = chat.members.map((key) => people.get(key)).join(', ');
  return (
    <>
      <header class="row chat-head">
        <Avatar name={chat.title} of={chat.key} />
        <h2>{chat.title}</h2>
        <small>
          {chat.kind === 'direct' ? `with ${world.bot}` : `${members}, ${world.bot}`}
          {!chat.isBotIn && ' (bot absent)'}
        </small>
      </header>
      <div
        class={`screen ${world.platform}`}
        role="log"
        aria-label="Messages"
        tabIndex={0}
        ref={box}
        onScroll={onScroll}
      >
        {shown.length === 0 && <p class="empty">No messages yet.</p>}
        {shown.map((message) => (
          <Message key={message.key} message={message} state={state} play={play} />
        ))}
        {chat.isTyping && <p class="typing">{world.bot} is typing…</p>}
        <Notice play={play} />
      </div>
    </>
  );
}

/** Telegram briefly shows this notice over the chat. */
const NOTICE_MS = 10_000;

function Notice({ play: { chat, speaker, world } }: Pick<Props, 'play'>): VNode | null {
  const { notice } = chat;
  const isShown = notice?.to === speaker.key && world.now - notice.at < NOTICE_MS;
  return isShown ? (
    <p class="notice" role="status">
      {notice.text}
    </p>
  ) : null;
}

function Message({ message, state, play }: MessageProps): VNode {
  const { people, speaker, chat, world } = play;
  const { from, replyTo } = message;
  const isMine = from === speaker.key;
  const hasHeads = isWorkplace(world.platform);
  const name = people.get(from) ?? from;
  const quoted = chat.messages.find(({ key }) => key === replyTo);
  const look = [isMine && 'mine', from === 'bot' && 'bot', message.isGrowing && 'growing'];
  return (
    <article class={look.filter(Boolean).join(' ')} data-key={message.key} aria-label={name}>
      {(hasHeads || (!isMine && chat.kind !== 'direct')) && (
        <div class="face">
          <Avatar name={name} of={from} />
          <span class="name">{name.replace(/^@/, '')}</span>
          {hasHeads && from === 'bot' && <small>APP</small>}
          {hasHeads && <time>{formatTimeOfDay(message.at)}</time>}
        </div>
      )}
      <div class="message">
        {quoted && (
          <p class="quoted">
            <b>{people.get(quoted.from) ?? quoted.from}</b> {quoted.text.slice(0, 80) || 'a file'}
          </p>
        )}
        {message.isDeleted ? (
          <i class="deleted">This message was deleted</i>
        ) : (
          <Content {...{ message, play }} />
        )}
        <MessageFooter message={message} />
      </div>
      <Buttons {...{ message, state, play }} />
      <Reactions {...{ message, state, play }} />
      {message.violations.length > 0 && (
        <p class="trouble violation">
          Violates the platform's rules: {message.violations.join('; ')}
        </p>
      )}
      {!message.isGrowing && !message.isDeleted && <Actions {...{ message, state, play }} />}
    </article>
  );
}

function Content({ message, play }: Omit<MessageProps, 'state'>): VNode {
  const { files, html, key } = message;
  return (
    <>
      {files.map((file, index) => (
        <FileBox
          key={index}
          {...file}
          path={`/api/file?${toFileQuery(play.chat.key, key, index)}`}
        />
      ))}
      <RenderedMarkup html={html} />
    </>
  );
}

function toFileQuery(chat: string, message: string, index: number): string {
  return String(new URLSearchParams({ chat, message, index: String(index) }));
}

/**
 * Markup rendered by the simulator. The simulator escapes all text, and the page's policy blocks
 * inline scripts.
 */
function RenderedMarkup({ html }: { readonly html: string }): VNode {
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (box.current) box.current.innerHTML = html;
  }, [html]);
  return <div class="drawn" dir="auto" ref={box} />;
}

function MessageFooter({
  message: { at, isEdited, onlyFor },
}: Pick<MessageProps, 'message'>): VNode {
  return (
    <footer>
      {onlyFor !== undefined && 'Only you can see this · '}
      {isEdited && 'edited '}
      <time>{formatTimeOfDay(at)}</time>
    </footer>
  );
}

/** Pictures are shown; all other files can be downloaded. */
function FileBox(props: {
  readonly name: string;
  readonly type: string;
  readonly path: string;
}): VNode {
  const { name, type, path } = props;
  const [address, setAddress] = useState<string>();
  const isPicture = /^image\/(png|jpeg|gif|webp)$/.test(type);
  useEffect(() => {
    if (!isPicture) return;
    let made: string | undefined;
    void fetchFile(path).then((file) => {
      made = file === null ? undefined : URL.createObjectURL(file);
      setAddress(made);
    });
    return () => {
      if (made !== undefined) URL.revokeObjectURL(made);
    };
  }, [path]);
  if (address !== undefined) return <img class="picture" src={address} alt={name} />;
  return (
    <button type="button" class="file" onClick={() => void download(path, name)}>
      📄 {name}
    </button>
  );
}

function Buttons({ message, state, play: { chat, speaker } }: MessageProps): VNode | null {
  const { buttons, key } = message;
  if (buttons.length === 0) return null;
  const press = (button: string) =>
    state.act({ kind: 'press', chat: chat.key, message: key, from: speaker.key, button });
  return (
    <div class="buttons">
      {buttons.map((button) => (
        <button key={button} type="button" onClick={() => press(button)}>
          {button}
        </button>
      ))}
    </div>
  );
}

function Reactions({ message, state, play }: MessageProps): VNode | null {
  const { chat, speaker, people } = play;
  if (message.reactions.length === 0) return null;
  const toggle = (emoji: string, gone: boolean) =>
    state.act({
      kind: 'react',
      chat: chat.key,
      message: message.key,
      from: speaker.key,
      emoji,
      gone,
    });
  return (
    <div class="reactions">
      {message.reactions.map(({ emoji, by }) => (
        <button
          key={emoji}
          type="button"
          title={by.map((one) => people.get(one) ?? one).join(', ')}
          aria-pressed={by.includes(speaker.key)}
          onClick={() => toggle(emoji, by.includes(speaker.key))}
        >
          {emoji} {by.length}
        </button>
      ))}
    </div>
  );
}

/** The speaker's actions for a message, shown when the message is hovered or focused. */
function Actions({ message, state, play: { chat, speaker, world } }: MessageProps): VNode {
  const place = { chat: chat.key, message: message.key };
  const isMine = message.from === speaker.key;
  const button = (label: string, name: string, onClick: () => unknown): VNode => (
    <button key={label} type="button" title={name} aria-label={name} onClick={onClick}>
      {label}
    </button>
  );
  const start = (what: 'reply' | 'edit') => () => {
    state.edit.value = what === 'edit' ? message.key : null;
    state.reply.value = what === 'reply' ? message.key : null;
  };
  return (
    <div class="message-actions">
      {button('↩', 'Reply', start('reply'))}
      {EMOJIS.map((emoji) =>
        button(emoji, `React with ${emoji}`, () =>
          state.act({ kind: 'react', ...place, from: speaker.key, emoji }),
        ),
      )}
      {isMine && button('✎', 'Edit', start('edit'))}
      {isMine &&
        world.can.delete &&
        button('✕', 'Delete', () => state.act({ kind: 'delete', ...place }))}
    </div>
  );
}

function formatTimeOfDay(at: number): string {
  return new Date(at).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' });
}
