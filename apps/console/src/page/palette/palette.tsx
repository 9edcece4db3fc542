// biome-ignore-all lint/a11y: keys pressed in the field move the selection, as in any combobox.
import type { WebChat } from '@parley/channels/web';
import type { Signal } from '@preact/signals';
import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ChatClient } from '../chat/client.ts';
import { type ActionOutcome, createRandomId, runOperation } from '../gateway.ts';
import type { InboxState } from '../inbox/inbox-state.ts';
import { toRowHref } from '../inbox/row-links.tsx';
import { listInboxRows, listOlderNamedConversations } from '../inbox/rows.ts';
import { listViews } from '../navigation.tsx';
import { toChatHref, toHref } from '../route.ts';
import { useData, useOperation } from '../ui/data.tsx';
import { ProblemNote } from '../ui/widgets.tsx';
import { PLACES } from '../views.ts';
import type { SignedInPerson } from '../who.ts';
import { filterEntries, movePosition, type PaletteEntry, resolveCommandTarget } from './entries.ts';
import { SHORTCUTS } from './shortcuts.ts';

export interface PaletteProps {
  readonly shown: Signal<'palette' | 'help' | null>;
  readonly me: SignedInPerson;
  readonly client: ChatClient;
  readonly inbox: InboxState;
  /** The conversation that is shown instead of the chat; null if there is none. */
  readonly conversation: string | null;
}

/** The palette of pages, chats and commands, or the list of shortcuts. */
export function Palette(props: PaletteProps): VNode {
  const { shown } = props;
  const box = useRef<HTMLDialogElement>(null);
  const kind = shown.value;
  // The dialog is closed so that the browser restores the focus.
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
      {kind === 'palette' && <PaletteFinder {...props} close={close} />}
      {kind === 'help' && <ShortcutHelp onClose={close} />}
    </dialog>
  );
}

interface PaletteAction extends PaletteEntry {
  /** Returns the reason if the command failed. */
  readonly run: () => Promise<ActionOutcome | undefined>;
}

interface FinderProps extends Omit<PaletteProps, 'shown'> {
  readonly close: () => void;
}

function PaletteFinder({ close, ...props }: FinderProps): VNode {
  const [typed, setTyped] = useState('');
  const [at, setAt] = useState(0);
  const [failure, setFailure] = useState<string | null>(null);
  const isRunning = useRef(false);
  const entries = filterEntries(usePaletteEntries(props), typed);
  const chosen = entries[Math.min(at, entries.length - 1)];
  const run = async (entry: PaletteAction | undefined): Promise<void> => {
    if (entry === undefined || isRunning.current) return;
    isRunning.current = true;
    const failed = await entry.run();
    isRunning.current = false;
    setFailure(failed?.text ?? null);
    if (failed === undefined) close();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const next = movePosition(event.key, at, entries.length);
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
      <ProblemNote reason={failure} />
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
function usePaletteEntries(props: Omit<PaletteProps, 'shown'>): readonly PaletteAction[] {
  const { me, client } = props;
  const isOwner = me.role === 'owner';
  const chats = useChats(isOwner);
  const pages = PLACES.flatMap((place) =>
    listViews(me, place)
      .filter(({ id }) => id !== 'conversations')
      .map(({ id, label }): PaletteAction => {
        return { id, kind: 'Pages', label: label ?? '', hint: place.name, run: go(toHref(id)) };
      }),
  );
  if (!isOwner) return pages;
  const own: readonly PaletteAction[] = [
    { id: 'inbox', kind: 'Pages', label: 'Inbox', hint: 'Conversations', run: go(toHref('chat')) },
    {
      id: 'new-chat',
      kind: 'Commands',
      label: 'New chat',
      hint: 'N',
      run: go(toHref('chat', createRandomId())),
    },
  ];
  const typed = client.conversation.value.commands.map(({ name, summary }): PaletteAction => {
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

/** The chats on this page and the newest conversations on all channels, under their names. */
function useChats(isOwner: boolean): readonly PaletteAction[] {
  const list = useOperation('conversations/list', isOwner ? {} : null).value;
  const chats = useData<readonly WebChat[]>(isOwner ? '/channels/web/default/chats' : null).value;
  if (list === undefined || chats === undefined) return [];
  const { conversations, marks } = list;
  const rows = listInboxRows({ conversations, marks, chats, isOfOneAgent: true });
  const named = listOlderNamedConversations(marks, rows).map((one) => ({
    ...one,
    place: 'Conversations',
  }));
  return [...rows, ...named].map((row): PaletteAction => {
    return {
      id: `chat-${row.id}`,
      kind: 'Chats',
      label: row.title,
      hint: row.place,
      run: go(toRowHref(row)),
    };
  });
}

/** Runs a command on the chat that is shown. Resolves to the reason if the command failed. */
async function runCommand(
  name: string,
  { client, inbox, conversation }: Omit<PaletteProps, 'shown'>,
): Promise<ActionOutcome | undefined> {
  const shown = { chat: client.chat.peek(), conversation, row: inbox.row.peek() };
  const target = resolveCommandTarget(name, shown);
  if (target.kind === 'conversation') return runOperation(target.operation, { id: target.id });
  client.open(target.chat);
  client.send(`/${name}`);
  location.hash = toChatHref(target.chat);
  return undefined;
}

function ShortcutHelp({ onClose }: { readonly onClose: () => void }): VNode {
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
