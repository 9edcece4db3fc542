import type { ShownProblem, ShownSettings } from '@parley/gateway/api';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { counted } from '../ui/format.ts';
import { ActionButton } from '../ui/widgets.tsx';
import { changesBetween, type Path, withValue } from './draft.ts';
import { fieldOf, type Schema } from './fields.ts';
import { isWithin, type SettingContext, SettingField } from './setting-field.tsx';
import type { Save } from './settings-view.tsx';

interface FormProps {
  readonly settings: ShownSettings;
  readonly schema: Schema;
  readonly problems: readonly ShownProblem[];
  readonly save: Save;
}

/** Values that were edited from the file with this print. */
interface Edited {
  readonly print: string;
  readonly values: unknown;
}

/** All settings by section, with their descriptions and defaults. Only what was changed is written. */
export function SettingsForm({ settings, schema, problems, save }: FormProps): VNode {
  const { values, print } = settings;
  // Of this text of the file; sections that are open stay so over a save.
  const start: Edited = { print, values: values ?? {} };
  const [edited, setEdited] = useState(start);
  const ofThis = (one: Edited): Edited => (one.print === print ? one : start);
  const draft = ofThis(edited).values;
  const root = fieldOf('', schema, {});
  if (values === null || root.kind !== 'block') {
    return <p class="nothing">The file is no valid YAML. Correct it in the tab File.</p>;
  }
  const changes = changesBetween(values, draft);
  const form: SettingContext = {
    draft,
    problems,
    set: (path: Path, value: unknown) =>
      setEdited((now) => ({ print, values: withValue(ofThis(now).values, path, value) })),
  };
  const onSubmit = (event: Event): void => {
    event.preventDefault();
    if (changes.length > 0) save({ changes });
  };
  return (
    <form class="settings" onSubmit={onSubmit}>
      {root.fields
        .filter(([name]) => name !== 'version')
        .map(([name, section]) => (
          <details key={name} open={problems.some(({ path }) => isWithin(path, [name]))}>
            <summary>
              <h3>{name}</h3>
              <span class="hint">{section.description}</span>
            </summary>
            <SettingField name={name} path={[name]} schema={section} form={form} isSection />
          </details>
        ))}
      <div class="settings-save">
        <ActionButton
          label={
            changes.length === 0 ? 'Nothing to save' : `Save ${counted(changes.length, 'change')}`
          }
          look="is-main"
          isBusy={changes.length === 0}
          isSubmit
        />
      </div>
    </form>
  );
}
