import type { PlayerAct } from '@parley/simulators';
import type { TargetedEvent, VNode } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { isWorkplace, type PlayerContext, type PlayState } from './play.ts';

interface Props {
  readonly state: PlayState;
  readonly play: PlayerContext;
}

/** The maximum size of a file, in bytes; bots on the platforms refuse larger files as well. */
const LARGEST_FILE = 20_000_000;

type AttachedFile = Extract<PlayerAct, { kind: 'say' }>['file'];

/** Writes a message as any of the chat's members. */
export function Composer({ state, play }: Props): VNode {
  const { world, chat, speaker } = play;
  const [text, setText] = useState('');
  const [mention, setMention] = useState(true);
  const [file, setFile] = useState<AttachedFile>();
  const field = useRef<HTMLTextAreaElement>(null);
  const { reply, edit } = state;
  const edited = chat.messages.find(({ key }) => key === edit.value);
  // Before the browser paints, so that a person cannot type into the old text.
  useLayoutEffect(() => {
    if (edited !== undefined) setText(edited.text);
    if (edit.value !== null || reply.value !== null) field.current?.focus();
  }, [edit.value, reply.value]);
  const isGroup = chat.kind !== 'direct';
  const clear = (): void => {
    setText('');
    setFile(undefined);
    reply.value = null;
    edit.value = null;
  };
  const send = async (): Promise<void> => {
    if (text.trim() === '' && file === undefined) return;
    const act = toSayAct(play, { text, file, edit: edit.value, reply: reply.value });
    const isCommand = text.startsWith('/') && isWorkplace(world.platform);
    const isMention = act.kind === 'say' && isGroup && mention && !isCommand;
    clear();
    await state.act(isMention ? { ...act, mention } : act);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') clear();
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    void send();
  };
  return (
    <div class="composer">
      <CommandMenu text={text} play={play} choose={(name) => setText(`/${name} `)} />
      <ComposerStrip {...{ state, play, file, clear }} />
      <div class="row">
        <label class="row facts">
          <span>As</span>
          <select
            value={speaker.key}
            onChange={(event) => {
              state.speaker.value = event.currentTarget.value;
            }}
          >
            {chat.members.map((key) => (
              <option key={key} value={key}>
                {play.people.get(key)}
              </option>
            ))}
          </select>
        </label>
        {isGroup && (
          <label class="row facts">
            <input
              type="checkbox"
              checked={mention}
              onChange={(event) => setMention(event.currentTarget.checked)}
            />
            mention the bot
          </label>
        )}
        <label class="row facts">
          <span>Attach</span>
          <input type="file" onChange={async (event) => setFile(await readFile(event, state))} />
        </label>
      </div>
      <div class="row">
        <textarea
          class="grow"
          ref={field}
          rows={2}
          value={text}
          aria-label={`Message as ${speaker.name}`}
          placeholder={`Write as ${speaker.name}; / shows the commands`}
          onInput={(event) => setText(event.currentTarget.value)}
          onKeyDown={onKeyDown}
        />
        <button type="button" class="send" onClick={send}>
          {edited === undefined ? 'Send' : 'Save'}
        </button>
      </div>
    </div>
  );
}

interface ComposerDraft {
  readonly text: string;
  readonly file: AttachedFile;
  readonly edit: string | null;
  readonly reply: string | null;
}

function toSayAct(
  { chat, speaker }: PlayerContext,
  { text, file, edit, reply }: ComposerDraft,
): PlayerAct {
  if (edit !== null) return { kind: 'edit', chat: chat.key, message: edit, text };
  return {
    ...{ kind: 'say', chat: chat.key, from: speaker.key, text },
    ...(file !== undefined && { file }),
    ...(reply !== null && { replyTo: reply }),
  };
}

/** The bot's registered commands that start with the typed text. */
function CommandMenu(props: {
  readonly text: string;
  readonly play: PlayerContext;
  readonly choose: (name: string) => void;
}): VNode | null {
  const { text, play, choose } = props;
  const prefix = /^\/(\S*)$/.exec(text)?.[1];
  const found = play.world.commands.filter(({ name }) => name.startsWith(prefix ?? '?'));
  if (prefix === undefined || found.length === 0) return null;
  return (
    <ul class="card command-menu" aria-label="Commands">
      {found.map(({ name, description }) => (
        <li key={name}>
          <button type="button" onClick={() => choose(name)}>
            <b>/{name}</b> <small>{description}</small>
          </button>
        </li>
      ))}
    </ul>
  );
}

/** A strip that shows the message being answered or edited, and the attached files. */
function ComposerStrip(
  props: Props & { readonly file: AttachedFile; readonly clear: () => void },
): VNode | null {
  const { state, play, file, clear } = props;
  const { reply, edit } = state;
  const about = play.chat.messages.find(({ key }) => key === (reply.value ?? edit.value));
  if (about === undefined && file === undefined) return null;
  return (
    <p class="said">
      {about && `${edit.value === null ? 'Replying to' : 'Editing'}: ${about.text.slice(0, 60)} `}
      {file && `Attached: ${file.name} `}
      <button type="button" onClick={clear}>
        Discard
      </button>
    </p>
  );
}

async function readFile(
  event: TargetedEvent<HTMLInputElement>,
  { trouble }: PlayState,
): Promise<AttachedFile> {
  const input = event.currentTarget;
  const [file] = input.files ?? [];
  if (file === undefined) return undefined;
  if (file.size > LARGEST_FILE) {
    trouble.value = `${file.name} is larger than 20 MB.`;
    return undefined;
  }
  const bytes = new Uint8Array(await file.arrayBuffer());
  input.value = '';
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  const type = file.type || 'application/octet-stream';
  return { name: file.name.slice(0, 60), type, base64: btoa(binary) };
}
