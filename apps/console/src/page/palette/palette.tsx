// biome-ignore-all lint/a11y: keys pressed in the field move the selection, as in any combobox.
import type { WebHistory } from '@parley/channels/web';
import type { Signal } from '@preact/signals';
import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { createRandomId } from '../gateway.ts';
import { toRowHref } from '../inbox/row-links.tsx';
import { listInboxRows } from '../inbox/rows.ts';
import { toHref } from '../route.ts';
import { useOperation } from '../ui/data.tsx';
import { PLACES } from '../views.ts';
import { findMissingRole, type SignedInPerson } from '../who.ts';
import { filterEntries, movePosition, type PaletteEntry } from './entries.ts';
import { SHORTCUTS } from './shortcuts.ts';

export interface PaletteProps {
  readonly shown: Signal<'palette' | 'help' | null>;
  readonly me: SignedInPerson;
  readonly commands: WebHistory['commands'];
  /** Sends a command in the open chat. */
  readonly send: (command: string) => void;
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
      {kind === 'palette' && <PaletteFinder {...props} close={close} />}
      {kind === 'help' && <ShortcutHelp onClose={close} />}
    </dialog>
  );
}

interface PaletteAction extends PaletteEntry {
  readonly run: () => void;
}

interface FinderProps extends Omit<PaletteProps, 'shown'> {
  readonly close: () => void;
}

function PaletteFinder({ close, me, commands, send }: FinderProps): VNode {
  const [typed, setTyped] = useState('');
  const [at, setAt] = useState(0);
  const entries = filterEntries(usePaletteEntries(me, commands, send), typed);
  const chosen = entries[Math.min(at, entries.length - 1)];
  const run = (entry: PaletteAction | undefined): void => {
    if (entry === undefined) return;
    close();
    entry.run();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const next = movePosition(event.key, at, entries.length);
    if (next === null && event.key !== 'Enter') return;
    event.preventDefault();
    if (next === null) run(chosen);
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
            onClick={() => run(entry)}
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
function usePaletteEntries(
  me: SignedInPerson,
  commands: WebHistory['commands'],
  send: (command: string) => void,
) {
  const isOwner = me.role === 'owner';
  const list = useOperation('conversations/list', isOwner ? {} : null);
  const go = (href: string) => (): void => {
    location.hash = href;
  };
  const pages = PLACES.flatMap(({ name, views }) =>
    views
      .filter(
        ({ label, reads, id }) =>
          label !== null && id !== 'conversations' && findMissingRole(me, reads) === null,
      )
      .map(
        (view): PaletteAction => ({
          id: view.id,
          kind: 'Pages',
          label: view.label ?? '',
          hint: name,
          run: go(toHref(view.id)),
        }),
      ),
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
  const rows = listInboxRows({
    conversations: list.value?.conversations ?? [],
    marks: list.value?.marks ?? [],
    ...{ chats: [], isOfOneAgent: true },
  });
  const chats = rows.map((row, nth): PaletteAction => {
    return {
      id: `chat-${nth}`,
      kind: 'Chats',
      label: row.title,
      hint: row.place,
      run: go(toRowHref(row)),
    };
  });
  const typed = commands.map(({ name, summary }): PaletteAction => {
    return {
      id: `command-${name}`,
      kind: 'Commands',
      label: `/${name}`,
      hint: summary,
      run() {
        location.hash = toHref('chat');
        send(`/${name}`);
      },
    };
  });
  return [...own, ...pages, ...chats, ...typed];
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
