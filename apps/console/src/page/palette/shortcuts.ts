import { useEffect } from 'preact/hooks';

/** What a key does, wherever the focus is on the page. */
export type Shortcut = 'palette' | 'help' | 'new-chat' | 'search';

/** The keys and their effects, as listed in the help. */
export const SHORTCUTS: readonly (readonly [keys: string, does: string])[] = [
  ['Ctrl K', 'Go to a page or a chat, or run a command (⌘ K on a Mac)'],
  ['N', 'New chat'],
  ['/', 'Search all conversations'],
  ['?', 'Show these shortcuts'],
  ['Enter', 'Send the message'],
  ['Shift Enter', 'Start a new line'],
  ['Esc', 'Cancel editing, or stop the answer when the field is empty'],
];

type Key = Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey'>;

/** What a key does, or null. `isTyping` is true in a text field, where letter keys type text. */
export function findShortcut(
  { key, ctrlKey, metaKey, altKey }: Key,
  isTyping: boolean,
): Shortcut | null {
  if (altKey) return null;
  if (ctrlKey || metaKey) return key.toLowerCase() === 'k' ? 'palette' : null;
  if (isTyping) return null;
  if (key === '?') return 'help';
  if (key === '/') return 'search';
  return key === 'n' ? 'new-chat' : null;
}

/** Calls back when one of the page's shortcuts is pressed. */
export function useShortcuts(run: (shortcut: Shortcut) => void): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      // The editor is in a shadow root, so the event's own target would only be its host.
      const [target = null] = event.composedPath();
      const shortcut = findShortcut(event, isTextField(target));
      if (shortcut === null || event.defaultPrevented) return;
      // An open dialog or menu has its own keys.
      if (shortcut !== 'palette' && document.querySelector('dialog[open], [popover]:popover-open'))
        return;
      event.preventDefault();
      run(shortcut);
    };
    addEventListener('keydown', onKeyDown);
    return () => removeEventListener('keydown', onKeyDown);
  });
}

function isTextField(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}
