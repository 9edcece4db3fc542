import {
  autocompletion,
  type Completion,
  type CompletionContext,
  type CompletionResult,
  completionKeymap,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { yaml } from '@codemirror/lang-yaml';
import { HighlightStyle, indentUnit, syntaxHighlighting } from '@codemirror/language';
import { type Diagnostic, lintGutter, setDiagnostics } from '@codemirror/lint';
import { EditorState, type Text } from '@codemirror/state';
import { drawSelection, EditorView, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import type { ShownProblem } from '@parley/gateway/api';
import { type Offer, offersAt } from './completion.ts';
import type { Schema } from './fields.ts';

/** An editor of the settings file in the page. */
export interface Editor {
  text(): string;
  /** Shows problems at their places, instead of those before. */
  mark(problems: readonly ShownProblem[]): void;
  close(): void;
}

interface EditorOptions {
  readonly text: string;
  readonly schema: Schema;
  readonly onChange: (text: string) => void;
  readonly onSave: () => void;
}

/** Colours are those of the page, light and dark. */
const COLOURS = HighlightStyle.define([
  { tag: tags.comment, color: 'var(--soft)' },
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--accent)' },
  { tag: [tags.string, tags.number, tags.bool], color: 'var(--wait)' },
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
 * Opens an editor inside of `parent`, which it fills. Its styles are made by script, which the content security
 * policy allows inside of a shadow root alone.
 */
export function openEditor(
  parent: HTMLElement,
  { text, schema, onChange, onSave }: EditorOptions,
): Editor {
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
        yaml(),
        indentUnit.of('  '),
        syntaxHighlighting(COLOURS),
        LOOK,
        lintGutter(),
        autocompletion({ override: [(context) => complete(schema, context)] }),
        keymap.of([
          { key: 'Mod-s', run: save },
          ...completionKeymap,
          ...historyKeymap,
          ...defaultKeymap,
          indentWithTab,
        ]),
        EditorView.contentAttributes.of({ 'aria-label': 'Settings file', spellcheck: 'false' }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) onChange(update.state.doc.toString());
        }),
      ],
    }),
  });
  return {
    text: () => view.state.doc.toString(),
    mark(problems) {
      const found = problems.flatMap((problem) => diagnosticOf(view.state.doc, problem));
      view.dispatch(setDiagnostics(view.state, found));
    },
    close: () => view.destroy(),
  };
}

/** From its place to the end of the line. */
function diagnosticOf(doc: Text, { line, column = 1, text }: ShownProblem): Diagnostic[] {
  if (line === undefined || line > doc.lines) return [];
  const place = doc.line(line);
  const from = Math.min(place.to, place.from + column - 1);
  return [{ from, to: Math.max(from, place.to), severity: 'error', message: text }];
}

function complete(schema: Schema, context: CompletionContext): CompletionResult | null {
  const { number, from } = context.state.doc.lineAt(context.pos);
  const lines = context.state.doc.toString().split('\n').slice(0, number);
  const typed = context.state.sliceDoc(from, context.pos);
  const offers = offersAt(schema, lines.slice(0, -1), typed);
  const word = context.matchBefore(/[\w-]*$/);
  if (offers.length === 0 || (word?.from === word?.to && !context.explicit)) return null;
  return { from: word?.from ?? context.pos, options: offers.map(completionOf) };
}

function completionOf({ label, about, isKey }: Offer): Completion {
  return {
    label,
    ...(about !== undefined && { info: about }),
    ...(isKey && { apply: `${label}: ` }),
  };
}
