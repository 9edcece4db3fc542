import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { HighlightStyle, indentUnit, syntaxHighlighting } from '@codemirror/language';
import { EditorState, type Extension } from '@codemirror/state';
import { drawSelection, EditorView, type KeyBinding, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';

/** A text editor in the page. */
export interface TextEditor {
  text(): string;
  /** Replaces the whole text; a single undo restores it. */
  replace(text: string): void;
  close(): void;
}

export interface EditorOptions {
  readonly text: string;
  /** The name of the editor for screen readers. */
  readonly label: string;
  /** The language of the text, and other extensions. */
  readonly extensions: Extension;
  /** Key bindings that take precedence over the standard ones. */
  readonly keys?: readonly KeyBinding[];
  readonly onChange: (text: string) => void;
  readonly onSave: () => void;
}

/** Uses the page's colors, light or dark. */
const COLOURS = HighlightStyle.define([
  { tag: [tags.comment, tags.meta], color: 'var(--soft)' },
  {
    tag: [tags.propertyName, tags.definition(tags.propertyName), tags.link, tags.list],
    color: 'var(--accent)',
  },
  { tag: [tags.string, tags.number, tags.bool, tags.monospace], color: 'var(--wait)' },
  { tag: tags.heading, fontWeight: '700', color: 'var(--accent)' },
  { tag: tags.strong, fontWeight: '700' },
  { tag: tags.emphasis, fontStyle: 'italic' },
]);

const SELECTED = { backgroundColor: 'var(--mine) !important' };
const LOOK = EditorView.theme({
  '&': { maxHeight: '65vh', fontSize: '0.875rem', color: 'var(--ink)' },
  '.cm-scroller': { fontFamily: 'var(--mono)' },
  '.cm-gutters': {
    borderColor: 'var(--line)',
    backgroundColor: 'var(--raised)',
    color: 'var(--soft)',
  },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '.cm-selectionBackground': SELECTED,
  '&.cm-focused .cm-selectionBackground': SELECTED,
  '.cm-tooltip': {
    maxWidth: 'min(30rem, 90vw)',
    borderColor: 'var(--line)',
    backgroundColor: 'var(--raised)',
    color: 'var(--ink)',
    whiteSpace: 'pre-wrap',
  },
  '.cm-tooltip-autocomplete ul li[aria-selected]': {
    backgroundColor: 'var(--accent)',
    color: 'var(--on-accent)',
  },
});

/**
 * Opens an editor that fills `parent`. The editor's styles are created by script, which the content
 * security policy allows only inside a shadow root.
 */
export function openEditor(
  parent: HTMLElement,
  { text, label, extensions, keys = [], onChange, onSave }: EditorOptions,
): TextEditor & { readonly view: EditorView } {
  const save = (): boolean => {
    onSave();
    return true;
  };
  const root = parent.shadowRoot ?? parent.attachShadow({ mode: 'open' });
  const view = new EditorView({
    parent: root,
    root,
    state: EditorState.create({
      doc: text,
      extensions: [
        lineNumbers(),
        history(),
        drawSelection(),
        indentUnit.of('  '),
        syntaxHighlighting(COLOURS),
        LOOK,
        extensions,
        keymap.of([
          { key: 'Mod-s', run: save },
          ...keys,
          ...historyKeymap,
          ...defaultKeymap,
          indentWithTab,
        ]),
        // Scrollable content must be reachable by keyboard; some tools do not recognize that it is
        // editable.
        EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) onChange(update.state.doc.toString());
        }),
      ],
    }),
  });
  return {
    view,
    text: () => view.state.doc.toString(),
    replace: (insert) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert } }),
    close: () => view.destroy(),
  };
}
