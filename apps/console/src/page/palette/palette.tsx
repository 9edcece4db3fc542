// biome-ignore-all lint/a11y: keys pressed in the field move the selection, as in any combobox.
import type { WebChat } from '@parley/channels/web';
import type { Signal } from '@preact/signals';
import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ChatClient } from '../chat/client.ts';
import { type Outcome, order, randomId } from '../gateway.ts';
import type { InboxState } from '../inbox/inbox-state.ts';
import { hrefOfRow } from '../inbox/row-links.tsx';
import { inboxRows, namedElsewhere } from '../inbox/rows.ts';
import { viewsFor } from '../navigation.tsx';
import { hrefOf, hrefOfChat } from '../route.ts';
import { useData, useOperation } from '../ui/data.tsx';
import { Trouble } from '../ui/widgets.tsx';
import { PLACES } from '../views.ts';
import type { Me } from '../who.ts';
import { commandTarget, matching, type PaletteEntry, placeAfter } from './entries.ts';
import { SHORTCUTS } from './shortcuts.ts';

export interface PaletteProps {
  readonly shown: Signal<'palette' | 'help' | null>;
  readonly me: Me;
  readonly client: ChatClient;
  readonly inbox: InboxState;
  /** The conversation shown instead of the chat; null if there is none. */
  readonly conversation: string | null;
}

/** The palette of pages, chats and commands, or the list of shortcuts. */
export function Palette(props: PaletteProps): VNode {
  const { shown } = props;
  const box = useRef<HTMLDialogElement>(null);
  const kind = shown.value;
  // The browser then restores the focus.
  const close = (): void => box.current?.close();
  useEffect(() => box.current?.showModal(), []);
  return (
    <dialog
      ref={box}
      class="palette"
      aria-label={kind === 'help' ? 'Keyboard shortcuts' : 'Go to'}
      onClose={() => {
        shown.value = null;
      }}
      onClick={({ target }) => {
        if (target === box.current) close();
      }}
    >
      {kind === 'palette' && <Finder {...props} close={close} />}
      {kind === 'help' && <Help onClose={close} />}
    </dialog>
  );
}

interface Entry extends PaletteEntry {
  /** Returns why it failed, if it did. */
  readonly run: () => Promise<Outcome | undefined>;
}

interface FinderProps extends Omit<PaletteProps, 'shown'> {
  readonly close: () => void;
}

function Finder({ close, ...props }: FinderProps): VNode {
  const [typed, setTyped] = useState('');
  const [at, setAt] = useState(0);
  const [failure, setFailure] = useState<string | null>(null);
  const isRunning = useRef(false);
  const entries = matching(useEntries(props), typed);
  const chosen = entries[Math.min(at, entries.length - 1)];
  const run = async (entry: Entry | undefined): Promise<void> => {
    if (entry === undefined || isRunning.current) return;
    isRunning.current = true;
    const failed = await entry.run();
    isRunning.current = false;
    setFailure(failed?.text ?? null);
    if (failed === undefined) close();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const next = placeAfter(event.key, at, entries.length);
    if (next === null && event.key !== 'Enter') return;
    event.preventDefault();
    if (next === null) void run(chosen);
    else setAt(next);
  };
  return (
    <>
      <input
        class="field"
        role="combobox"
        aria-label="Go to a page or a chat, or run a command"
        aria-expanded={entries.length > 0}
        aria-controls="palette-entries"
        aria-autocomplete="list"
        aria-activedescendant={chosen && `palette-${chosen.id}`}
        placeholder="Go to a page or a chat, or run a command"
        autocomplete="off"
        autofocus
        value={typed}
        onInput={({ currentTarget }) => {
          setTyped(currentTarget.value);
          setAt(0);
        }}
        onKeyDown={onKeyDown}
      />
      <Trouble reason={failure} />
      <ul
        id="palette-entries"
        class="palette-entries"
        role="listbox"
        aria-label="Pages, chats and commands"
      >
        {entries.map((entry) => (
          <li
            key={entry.id}
            id={`palette-${entry.id}`}
            role="option"
            aria-selected={entry === chosen}
            onClick={() => void run(entry)}
          >
            <span class="clip">{entry.label}</span>
            <span class="hint clip">{entry.hint}</span>
          </li>
        ))}
      </ul>
      {entries.length === 0 && (
        <p class="nothing" role="status">
          No results
        </p>
      )}
    </>
  );
}

/** All entries that the signed-in person's role allows. */
function useEntries(props: Omit<PaletteProps, 'shown'>): readonly Entry[] {
  const { me, client } = props;
  const isOwner = me.role === 'owner';
  const chats = useChats(isOwner);
  const pages = PLACES.flatMap((place) =>
    viewsFor(me, place)
      .filter(({ id }) => id !== 'conversations')
      .map(({ id, label }): Entry => {
        return { id, kind: 'Pages', label: label ?? '', hint: place.name, run: go(hrefOf(id)) };
      }),
  );
  if (!isOwner) return pages;
  const own: readonly Entry[] = [
    { id: 'inbox', kind: 'Pages', label: 'Inbox', hint: 'Conversations', run: go(hrefOf('chat')) },
    {
      id: 'new-chat',
      kind: 'Commands',
      label: 'New chat',
      hint: 'N',
      run: go(hrefOf('chat', randomId())),
    },
  ];
  const typed = client.conversation.value.commands.map(({ name, summary }): Entry => {
    return {
      id: `command-${name}`,
      kind: 'Commands',
      label: `/${name}`,
      hint: summary,
      run: () => runCommand(name, props),
    };
  });
  return [...own, ...pages, ...chats, ...typed];
}

const go = (href: string) => async () => {
  location.hash = href;
  return undefined;
};

/** The chats of this page and the newest conversations of all channels, under their names. */
function useChats(isOwner: boolean): readonly Entry[] {
  const list = useOperation('conversations/list', isOwner ? {} : null).value;
  const chats = useData<readonly WebChat[]>(isOwner ? '/channels/web/default/chats' : null).value;
  if (list === undefined || chats === undefined) return [];
  const { conversations, marks } = list;
  const rows = inboxRows({ conversations, marks, chats, isOfOneAgent: true });
  const named = namedElsewhere(marks, rows).map((one) => ({ ...one, place: 'Conversations' }));
  return [...rows, ...named].map((row): Entry => {
    return {
      id: `chat-${row.id}`,
      kind: 'Chats',
      label: row.title,
      hint: row.place,
      run: go(hrefOfRow(row)),
    };
  });
}

/** Runs a command on the chat on display. Resolves to the reason if that failed. */
async function runCommand(
  name: string,
  { client, inbox, conversation }: Omit<PaletteProps, 'shown'>,
): Promise<Outcome | undefined> {
  const shown = { chat: client.chat.peek(), conversation, row: inbox.row.peek() };
  const target = commandTarget(name, shown);
  if (target.kind === 'conversation') return order(target.operation, { id: target.id });
  client.open(target.chat);
  client.send(`/${name}`);
  location.hash = hrefOfChat(target.chat);
  return undefined;
}

function Help({ onClose }: { readonly onClose: () => void }): VNode {
  return (
    <>
      <h2>Keyboard shortcuts</h2>
      <dl class="pairs shortcuts">
        {SHORTCUTS.map(([keys, does]) => (
          <div key={keys}>
            <dt>
              {keys.split(' ').map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <button type="button" class="action" autofocus onClick={onClose}>
        Close
      </button>
    </>
  );
}
