import {
  autocompletion,
  type Completion,
  type CompletionContext,
  type CompletionResult,
  completionKeymap,
} from '@codemirror/autocomplete';
import { yaml } from '@codemirror/lang-yaml';
import { type Diagnostic, lintGutter, setDiagnostics } from '@codemirror/lint';
import type { Text } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import type { SettingsProblemSummary } from '@parley/gateway/api';
import { type EditorOptions, openEditor, type TextEditor } from '../ui/editor.ts';
import { listCompletions, type SettingCompletion } from './completion.ts';
import type { SettingSchema } from './fields.ts';

/** An editor of the settings file in the page. */
export interface SettingsEditor extends TextEditor {
  /** Shows problems at their positions and removes earlier marks. */
  mark(problems: readonly SettingsProblemSummary[]): void;
}

type SettingsEditorOptions = Pick<EditorOptions, 'text' | 'onChange' | 'onSave'> & {
  readonly schema: SettingSchema;
};

/** Opens a YAML editor in `parent` that completes the keys and values of the settings. */
export function openSettingsEditor(
  parent: HTMLElement,
  { schema, ...options }: SettingsEditorOptions,
): SettingsEditor {
  const editor = openEditor(parent, {
    ...options,
    label: 'Settings file',
    keys: completionKeymap,
    extensions: [
      yaml(),
      lintGutter(),
      autocompletion({ override: [(context) => completeSettings(schema, context)] }),
      EditorView.contentAttributes.of({ spellcheck: 'false' }),
    ],
  });
  const { view } = editor;
  return {
    ...editor,
    mark(problems) {
      const found = problems.flatMap((problem) => toDiagnostics(view.state.doc, problem));
      view.dispatch(setDiagnostics(view.state, found));
    },
  };
}

/** A problem is underlined from its position to the end of the line. */
function toDiagnostics(
  doc: Text,
  { line, column = 1, text }: SettingsProblemSummary,
): Diagnostic[] {
  if (line === undefined || line > doc.lines) return [];
  const place = doc.line(line);
  const from = Math.min(place.to, place.from + column - 1);
  return [{ from, to: Math.max(from, place.to), severity: 'error', message: text }];
}

function completeSettings(
  schema: SettingSchema,
  context: CompletionContext,
): CompletionResult | null {
  const { number, from } = context.state.doc.lineAt(context.pos);
  const lines = context.state.doc.toString().split('\n').slice(0, number);
  const typed = context.state.sliceDoc(from, context.pos);
  const offers = listCompletions(schema, lines.slice(0, -1), typed);
  const word = context.matchBefore(/[\w-]*$/);
  if (offers.length === 0 || (word?.from === word?.to && !context.explicit)) return null;
  return { from: word?.from ?? context.pos, options: offers.map(toCompletion) };
}

function toCompletion({ label, about, isKey }: SettingCompletion): Completion {
  return {
    label,
    ...(about !== undefined && { info: about }),
    ...(isKey && { apply: `${label}: ` }),
  };
}
