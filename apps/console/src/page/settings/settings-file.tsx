import type { SettingsProblemSummary, SettingsResponse } from '@parley/gateway/api';
import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { ActionButton } from '../ui/widgets.tsx';
import type { SaveSettings } from './draft.ts';
import { openSettingsEditor, type SettingsEditor } from './editor.ts';
import type { SettingSchema } from './fields.ts';

interface FileProps {
  readonly settings: SettingsResponse;
  readonly schema: SettingSchema;
  readonly problems: readonly SettingsProblemSummary[];
  readonly save: SaveSettings;
}

/** The settings file in an editor that completes keys and marks problems. */
export function SettingsFile({ settings, schema, problems, save }: FileProps): VNode {
  const box = useRef<HTMLDivElement>(null);
  const editor = useRef<SettingsEditor>();
  const [isChanged, setChanged] = useState(false);
  const store = (): void => {
    const text = editor.current?.text();
    if (text !== undefined) save({ text });
  };
  const latest = useRef(store);
  latest.current = store;
  useEffect(() => {
    if (box.current === null) return;
    const opened = openSettingsEditor(box.current, {
      text: settings.text,
      schema,
      onChange: (text) => setChanged(text !== settings.text),
      onSave: () => latest.current(),
    });
    editor.current = opened;
    return () => opened.close();
  }, []);
  useEffect(() => editor.current?.mark(problems), [problems]);
  return (
    <div class="settings-file">
      <p class="hint">
        Secrets are shown as [secret]; leave that text unchanged to keep them. Ctrl-Space completes,
        Ctrl-S saves; Escape, then Tab leaves the editor.
      </p>
      <div class="editor" ref={box} />
      <div class="row settings-save">
        <ActionButton
          label={isChanged ? 'Save the file' : 'Nothing to save'}
          look="is-main"
          isBusy={!isChanged}
          onPress={store}
        />
      </div>
    </div>
  );
}
