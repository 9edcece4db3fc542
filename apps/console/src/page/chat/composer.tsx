// biome-ignore-all lint/a11y: keys pressed in the field move the selection, as in any combobox.
import type { ComponentChildren, RefObject, VNode } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Icon } from '../ui/icon.tsx';
import { type CommandHint, decideKeyAction, matchCommands } from './composer-keys.ts';

/**
 * From this length on, the style sheet applies a single text direction to the field, because
 * detecting it per line would take seconds.
 */
const LONG = 20_000;

interface ComposerProps {
  readonly field: RefObject<HTMLTextAreaElement>;
  readonly draft: string;
  readonly agent: string;
  readonly commands: readonly CommandHint[];
  /** Whether an answer is being written. */
  readonly busy: boolean;
  /** Whether files are attached. */
  readonly hasFiles: boolean;
  readonly onFiles: (files: readonly File[]) => void;
  readonly onDraft: (text: string) => void;
  readonly onSend: (text: string) => void;
  readonly onStop: () => void;
  /** Cancels the edit and leaves the message as it was sent; null if no message is being edited. */
  readonly onCancelEdit: (() => void) | null;
  /** Controls beside the buttons below the field. */
  readonly children?: ComponentChildren;
}

/**
 * The message field. Enter sends, Shift+Enter starts a new line, Escape in an empty field stops the
 * answer.
 */
export function Composer(props: ComposerProps): VNode {
  const { field, draft, busy, onSend, onStop } = props;
  const [chosen, setChosen] = useState(0);
  const [closedFor, setClosedFor] = useState<string | null>(null);
  const matches = closedFor === draft ? [] : matchCommands(draft, props.commands);
  const at = Math.min(chosen, Math.max(0, matches.length - 1));
  useLayoutEffect(() => fitHeight(field.current), [draft]);

  const onKeyDown = (event: KeyboardEvent): void => {
    const action = decideKeyAction(event, {
      ...{ matches, at, draft, busy },
      isEdit: props.onCancelEdit !== null,
    });
    if (action.kind === 'type') return;
    event.preventDefault();
    if (action.kind === 'send') onSend(action.text);
    else if (action.kind === 'choose') setChosen(action.at);
    else if (action.kind === 'complete') props.onDraft(action.text);
    else if (action.kind === 'close-menu') setClosedFor(draft);
    else if (action.kind === 'cancel-edit') props.onCancelEdit?.();
    else onStop();
  };
  const onSubmit = (event: Event): void => {
    event.preventDefault();
    onSend(draft);
  };
  return (
    <form class="composer" onSubmit={onSubmit}>
      <CommandMenu matches={matches} at={at} onPick={onSend} />
      <label class="visually-hidden" for="message">
        Message to {props.agent}
      </label>
      <MessageField {...props} onKeyDown={onKeyDown} active={matches[at]} />
      <div class="composer-bar">
        <FilePicker onFiles={props.onFiles} />
        {props.children}
        <span class="hint">/ for commands</span>
        {busy && (
          <button type="button" class="quiet stop" onClick={onStop} title="Stop this answer (Esc)">
            <Icon name="stop" />
            Stop
          </button>
        )}
        <button
          type="submit"
          class="send"
          aria-label="Send"
          title="Send (Enter); Shift+Enter starts a new line"
          disabled={draft.trim() === '' && !props.hasFiles}
        >
          <Icon name="send" />
        </button>
      </div>
    </form>
  );
}

function FilePicker({ onFiles }: Pick<ComposerProps, 'onFiles'>): VNode {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label="Files for the message"
        onChange={({ currentTarget }) => {
          onFiles([...(currentTarget.files ?? [])]);
          currentTarget.value = '';
        }}
      />
      <button
        type="button"
        class="quiet attach"
        aria-label="Add files"
        title="Add files (you can also paste or drop them)"
        onClick={() => input.current?.click()}
      >
        <Icon name="attach" />
      </button>
    </>
  );
}

interface FieldProps extends ComposerProps {
  readonly onKeyDown: (event: KeyboardEvent) => void;
  readonly active: CommandHint | undefined;
}

function MessageField(props: FieldProps): VNode {
  const { field, draft, agent, onDraft, onFiles, onKeyDown, active } = props;
  return (
    <textarea
      ref={field}
      id="message"
      class={draft.length > LONG ? 'is-long' : ''}
      rows={1}
      dir="auto"
      value={draft}
      placeholder={`Message ${agent}`}
      enterkeyhint="send"
      autocomplete="off"
      aria-autocomplete="list"
      aria-controls={active && 'commands'}
      aria-activedescendant={active && `command-${active.name}`}
      onBeforeInput={({ currentTarget, data }) => {
        // The browser lays out pasted text before the page renders anything.
        if ((data?.length ?? 0) > LONG) currentTarget.classList.add('is-long');
      }}
      onPaste={(event) => {
        const files = [...(event.clipboardData?.files ?? [])];
        if (files.length === 0) return;
        event.preventDefault();
        onFiles(files);
      }}
      onInput={({ currentTarget }) => onDraft(currentTarget.value)}
      onKeyDown={onKeyDown}
    />
  );
}

/** Makes the field as tall as its text, up to the limit in the style sheet. */
function fitHeight(field: HTMLTextAreaElement | null): void {
  if (!field) return;
  field.style.height = 'auto';
  field.style.height = `${field.scrollHeight}px`;
}

interface MenuProps {
  readonly matches: readonly CommandHint[];
  /** Index of the highlighted command. */
  readonly at: number;
  readonly onPick: (text: string) => void;
}

/** The slash commands that match the typed text. The message field's keys move the selection. */
function CommandMenu({ matches, at, onPick }: MenuProps): VNode | null {
  if (matches.length === 0) return null;
  return (
    <ul id="commands" class="commands" role="listbox" aria-label="Commands">
      {matches.map(({ name, summary }, index) => (
        <li
          key={name}
          id={`command-${name}`}
          role="option"
          aria-selected={index === at}
          // Prevents the field from losing its focus.
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => onPick(`/${name}`)}
        >
          <b>/{name}</b>
          <span>{summary}</span>
        </li>
      ))}
    </ul>
  );
}
