import type { ShownProblem, ShownSettings } from '@parley/gateway/api';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { hrefOf } from '../route.ts';
import { counted } from '../ui/format.ts';
import { ActionButton } from '../ui/widgets.tsx';
import { type Field, fieldOf, readTyped, type Schema, valueAt, writeTyped } from './fields.ts';
import type { Save } from './settings-view.tsx';

interface FormProps {
  readonly settings: ShownSettings;
  readonly schema: Schema;
  readonly problems: readonly ShownProblem[];
  readonly save: Save;
}

/** What was typed, by the path as JSON. */
type Drafts = ReadonlyMap<string, { readonly field: Field; readonly typed: string }>;

interface Form extends Omit<FormProps, 'save' | 'schema'> {
  readonly drafts: Drafts;
  readonly type: (path: readonly string[], field: Field, typed: string) => void;
}

/** All settings by section, with their descriptions and defaults. Only what was changed is written. */
export function SettingsForm({ settings, schema, problems, save }: FormProps): VNode {
  const [drafts, setDrafts] = useState<Drafts>(new Map());
  const root = fieldOf('', schema, settings.values ?? {});
  if (settings.values === null || root.kind !== 'block') {
    return <p class="nothing">The file is no valid YAML. Mend it in the tab File.</p>;
  }
  const form: Form = {
    settings,
    problems,
    drafts,
    type: (path, field, typed) =>
      setDrafts((before) => new Map(before).set(JSON.stringify(path), { field, typed })),
  };
  const onSubmit = (event: Event): void => {
    event.preventDefault();
    const changes = [...drafts].map(([path, { field, typed }]) => {
      const value = readTyped(field, typed);
      return { path: JSON.parse(path), ...(value !== undefined && { value }) };
    });
    if (changes.length > 0) save({ kind: 'values', changes });
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
            <Setting name={name} path={[name]} schema={section} form={form} isSection />
          </details>
        ))}
      <div class="settings-save">
        <ActionButton
          label={drafts.size === 0 ? 'Nothing to save' : `Save ${counted(drafts.size, 'change')}`}
          look="is-main"
          isBusy={drafts.size === 0}
          isSubmit
        />
      </div>
    </form>
  );
}

interface SettingProps {
  readonly name: string;
  readonly path: readonly string[];
  readonly schema: Schema;
  readonly form: Form;
  /** Its name and description are shown already. */
  readonly isSection?: boolean;
}

/** One setting, or a block of them. */
function Setting({ name, path, schema, form, isSection = false }: SettingProps): VNode {
  const written = valueAt(form.settings.values, path);
  const field = fieldOf(name, schema, written);
  if (field.kind === 'block') {
    const inner = field.fields.map(([key, one]) => (
      <Setting key={key} name={key} path={[...path, key]} schema={one} form={form} />
    ));
    if (isSection) return <div class="settings-block">{inner}</div>;
    return (
      <fieldset class="settings-block">
        <legend>{name}</legend>
        {schema.description && <p class="hint">{schema.description}</p>}
        {inner}
      </fieldset>
    );
  }
  if (field.kind === 'file') {
    return (
      <p class="setting">
        <span class="setting-name">{name}</span>{' '}
        <a href={hrefOf('settings', 'file')}>
          {written === undefined ? 'Add it in the file' : 'Change it in the file'}
        </a>
        {!isSection && <span class="hint">{schema.description}</span>}
      </p>
    );
  }
  return <ValueField {...{ name, path, schema, form, field, written }} />;
}

interface ValueFieldProps extends SettingProps {
  readonly field: Exclude<Field, { kind: 'block' | 'file' }>;
  readonly written: unknown;
}

function ValueField({ name, path, schema, form, field, written }: ValueFieldProps): VNode {
  const id = `setting-${path.join('.')}`;
  const wrong = form.problems.filter(({ path: at }) => isWithin(at, path));
  const typed = form.drafts.get(JSON.stringify(path))?.typed ?? writeTyped(written);
  const shared = {
    id,
    class: 'field',
    value: typed,
    'aria-invalid': wrong.length > 0,
    'aria-describedby': `${id}-about`,
  };
  const take = (event: { readonly currentTarget: { readonly value: string } }): void =>
    form.type(path, field, event.currentTarget.value);
  return (
    <div class="setting">
      <label class="setting-name" for={id}>
        {name}
      </label>
      <Input field={field} shared={shared} usual={usualOf(schema)} onInput={take} />
      <p class="hint" id={`${id}-about`}>
        {wrong.map(({ text }) => `${text} `)}
        {schema.description}
      </p>
    </div>
  );
}

interface InputProps {
  readonly field: ValueFieldProps['field'];
  readonly shared: { readonly id: string; readonly class: string; readonly value: string };
  readonly usual: string;
  readonly onInput: (event: { readonly currentTarget: { readonly value: string } }) => void;
}

function Input({ field, shared, usual, onInput }: InputProps): VNode {
  switch (field.kind) {
    case 'switch':
    case 'choice': {
      const options = field.kind === 'switch' ? ['true', 'false'] : field.options;
      return (
        <select {...shared} onChange={onInput}>
          <option value="">{usual === '' ? 'not set' : `default: ${usual}`}</option>
          {options.map((option) => (
            <option key={option}>{option}</option>
          ))}
        </select>
      );
    }
    case 'list':
      return <textarea {...shared} rows={3} placeholder="one a line" onInput={onInput} />;
    case 'text':
      return (
        <input
          {...shared}
          type={field.isSecret ? 'password' : 'text'}
          autoComplete="off"
          placeholder={usual}
          onInput={onInput}
        />
      );
  }
}

/** The default, where it is short. */
function usualOf({ default: usual }: Schema): string {
  return usual === undefined || usual === null || typeof usual === 'object' ? '' : String(usual);
}

/** Whether a problem is at a path or below it. */
function isWithin(at: string, path: readonly string[]): boolean {
  const name = path.join('.');
  return at === name || at.startsWith(`${name}.`) || at.startsWith(`${name}[`);
}
