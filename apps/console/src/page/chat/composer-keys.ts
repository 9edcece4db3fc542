import type { WebHistory } from '@parley/channels/web';

/** A slash command as the menu shows it. */
export type CommandHint = WebHistory['commands'][number];

/** The action of a key in the composer; `type` leaves it to the browser. */
export type KeyAction =
  | { readonly kind: 'type' }
  | { readonly kind: 'send'; readonly text: string }
  | { readonly kind: 'choose'; readonly at: number }
  | { readonly kind: 'complete'; readonly text: string }
  | { readonly kind: 'close-menu' }
  | { readonly kind: 'stop' }
  /** Cancels the edit and leaves the message as it was sent. */
  | { readonly kind: 'cancel-edit' };

/** The relevant properties of a keyboard event. */
export interface PressedKey {
  readonly key: string;
  readonly shiftKey: boolean;
  readonly altKey: boolean;
  readonly isComposing: boolean;
  readonly keyCode: number;
}

/** The state of the composer when the key is pressed. */
export interface ComposerState {
  /** The commands in the menu; empty if it is closed. */
  readonly matches: readonly CommandHint[];
  /** Index of the highlighted command. */
  readonly at: number;
  readonly draft: string;
  readonly busy: boolean;
  /** Whether a sent message is being edited. */
  readonly isEdit: boolean;
}

/**
 * Key code of an Enter pressed inside an input method, for browsers that do not set `isComposing`.
 */
const IN_COMPOSITION = 229;

export function decideKeyAction(
  key: PressedKey,
  { matches, at, draft, busy, isEdit }: ComposerState,
): KeyAction {
  if (key.isComposing || key.keyCode === IN_COMPOSITION) return { kind: 'type' };
  const command = matches[at];
  if (command) {
    const { length } = matches;
    if (key.key === 'ArrowDown') return { kind: 'choose', at: (at + 1) % length };
    if (key.key === 'ArrowUp') return { kind: 'choose', at: (at + length - 1) % length };
    if (key.key === 'Tab' && !key.shiftKey) return { kind: 'complete', text: `/${command.name} ` };
    if (key.key === 'Escape') return { kind: 'close-menu' };
    if (key.key === 'Enter') return { kind: 'send', text: `/${command.name}` };
  }
  if (key.key === 'Enter' && !key.shiftKey && !key.altKey) return { kind: 'send', text: draft };
  if (key.key === 'Escape' && isEdit) return { kind: 'cancel-edit' };
  if (key.key === 'Escape' && busy && draft === '') return { kind: 'stop' };
  return { kind: 'type' };
}

/**
 * Returns the commands that a partly typed line may become; none after a space or on a second line.
 */
export function matchCommands(
  draft: string,
  commands: readonly CommandHint[],
): readonly CommandHint[] {
  const typed = /^\/([a-z0-9_]*)$/i.exec(draft)?.[1]?.toLowerCase();
  if (typed === undefined) return [];
  return commands.filter(({ name }) => name.startsWith(typed));
}

/**
 * Returns the command if the message contains nothing else; otherwise null. A command followed by
 * other words is shown as written.
 */
export function findCommand(text: string, commands: readonly CommandHint[]): string | null {
  const word = /^\s*\/([a-z0-9_]+)\s*$/i.exec(text)?.[1]?.toLowerCase();
  return commands.find(({ name }) => name === word)?.name ?? null;
}
