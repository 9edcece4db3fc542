import type { ShownProblem } from '@parley/gateway/api';
import type { ComponentChildren, VNode } from 'preact';
import { useState } from 'preact/hooks';
import { ActionButton } from '../ui/widgets.tsx';
import { type Path, pathText, valueAt, withMoved, withName } from './draft.ts';
import {
  type Field,
  fieldOf,
  formWritten,
  initialValue,
  isBlock,
  readTyped,
  type Schema,
  startOfEntry,
  type ValueField,
  writeTyped,
} from './fields.ts';

/** The form that a setting belongs to. */
export interface SettingContext {
  /** All settings as they were edited up to now. */
  readonly draft: unknown;
  readonly problems: readonly ShownProblem[];
  /** Edits one value; undefined removes it. */
  readonly set: (path: Path, value: unknown) => void;
}

interface SettingProps {
  readonly name: string;
  readonly path: Path;
  readonly schema: Schema;
  readonly form: SettingContext;
  /** Its name and description are shown already. */
  readonly isSection?: boolean;
  /** For an entry of a list or record: emptied, it stays until it is removed. */
  readonly isEntry?: boolean;
}

/** One setting with all that it contains, decided by its schema. */
export function SettingField(props: SettingProps): VNode {
  const { name, path, schema, form } = props;
  const written = valueAt(form.draft, path);
  const field = fieldOf(name, schema, written);
  switch (field.kind) {
    case 'block':
      return (
        <SettingGroup {...props} canRemove={written !== undefined && written !== null}>
          <BlockFields {...props} fields={field.fields} />
        </SettingGroup>
      );
    case 'record':
      return (
        <SettingGroup {...props}>
          <RecordEntries {...props} entry={field.entry} />
        </SettingGroup>
      );
    case 'items':
      return (
        <SettingGroup {...props}>
          <ListItems {...props} item={field.item} />
        </SettingGroup>
      );
    case 'union':
      return <Union {...props} field={field} written={written} />;
    default:
      return <Value {...props} field={field} written={written} />;
  }
}

interface GroupProps extends SettingProps {
  readonly children: ComponentChildren;
  /** It is optional and set. */
  readonly canRemove?: boolean;
}

/** Several settings with a common name, and what is wrong with them as a whole. */
function SettingGroup({
  name,
  path,
  schema,
  form,
  isSection,
  canRemove,
  children,
}: GroupProps): VNode {
  const wrong = <Problems path={path} form={form} />;
  if (isSection) {
    return (
      <div class="settings-block">
        {wrong}
        {children}
      </div>
    );
  }
  return (
    <fieldset class="settings-block">
      <legend>{name}</legend>
      {schema.description && <p class="hint">{schema.description}</p>}
      {wrong}
      {children}
      {canRemove && (
        <div class="actions">
          <Press label="Clear" about={pathText(path)} onPress={() => form.set(path, undefined)} />
        </div>
      )}
    </fieldset>
  );
}

function BlockFields({
  path,
  form,
  fields,
}: SettingProps & { readonly fields: readonly (readonly [string, Schema])[] }): VNode {
  return (
    <>
      {fields.map(([key, one]) => (
        <SettingField key={key} name={key} path={[...path, key]} schema={one} form={form} />
      ))}
    </>
  );
}

/** Entries whose names people choose, each with its name, and a place for the next. */
function RecordEntries({ path, form, entry }: SettingProps & { readonly entry: Schema }): VNode {
  const record = valueAt(form.draft, path);
  const keys = isBlock(record) ? Object.keys(record) : [];
  const [next, setNext] = useState('');
  const add = (): void => {
    const key = next.trim();
    if (key === '' || keys.includes(key)) return;
    form.set([...path, key], startOfEntry(entry));
    setNext('');
  };
  const where = pathText(path);
  return (
    <>
      {keys.map((key, at) => (
        // The name itself can change.
        <div class="settings-entry" key={at}>
          <NameInput
            label={`Name of ${where}.${key}`}
            name={key}
            onName={(to) => form.set(path, withName(record, key, to))}
          />
          <SettingField name={key} path={[...path, key]} schema={entry} form={form} isEntry />
          <Press label="Remove" about={key} onPress={() => form.set([...path, key], undefined)} />
        </div>
      ))}
      <div class="settings-add">
        <input
          class="field"
          aria-label={`New name in ${where}`}
          placeholder="name"
          value={next}
          onInput={({ currentTarget }) => setNext(currentTarget.value)}
          onKeyDown={(event) => onEnter(event, add)}
        />
        <Press label="Add" about={`to ${where}`} onPress={add} />
      </div>
    </>
  );
}

/** A name that counts once it is whole. */
function NameInput({
  label,
  name,
  onName,
}: {
  readonly label: string;
  readonly name: string;
  readonly onName: (name: string) => void;
}): VNode {
  return (
    <input
      class="field setting-name"
      aria-label={label}
      value={name}
      onChange={({ currentTarget }) => onName(currentTarget.value.trim())}
      onKeyDown={(event) => onEnter(event, () => event.currentTarget.blur())}
    />
  );
}

/** Without sending the form. */
function onEnter(event: KeyboardEvent, act: () => void): void {
  if (event.key !== 'Enter') return;
  event.preventDefault();
  act();
}

/** Entries in their order: each can be moved or removed. */
function ListItems({ name, path, form, item }: SettingProps & { readonly item: Schema }): VNode {
  const written = valueAt(form.draft, path);
  const list: readonly unknown[] = Array.isArray(written) ? written : [];
  const move = (from: number, to: number) => () => form.set(path, withMoved(list, from, to));
  return (
    <>
      {list.map((_one, at) => {
        const about = `${name} ${at + 1}`;
        const without = list.toSpliced(at, 1);
        return (
          <div class="settings-entry" key={at}>
            <SettingField name={about} path={[...path, at]} schema={item} form={form} isEntry />
            <div class="actions">
              {at > 0 && <Press label="Up" about={about} onPress={move(at, at - 1)} />}
              {at < list.length - 1 && (
                <Press label="Down" about={about} onPress={move(at, at + 1)} />
              )}
              <Press
                label="Remove"
                about={about}
                onPress={() => form.set(path, without.length === 0 ? undefined : without)}
              />
            </div>
          </div>
        );
      })}
      <div class="actions">
        <Press
          label="Add"
          about={`to ${pathText(path)}`}
          onPress={() => form.set(path, [...list, startOfEntry(item)])}
        />
      </div>
    </>
  );
}

interface UnionProps extends SettingProps {
  readonly field: Extract<Field, { kind: 'union' }>;
  readonly written: unknown;
}

/** One of several forms: which one, and its fields. What fits the new form, too, stays. */
function Union({ name, path, schema, form, isSection, field, written }: UnionProps): VNode {
  const at = formWritten(field.forms, written);
  const chosen = field.forms[at];
  const id = `${fieldId(path)}-form`;
  const choose = (index: number): void => {
    const next = field.forms[index];
    form.set(path, next === undefined ? undefined : initialValue(next, written));
  };
  return (
    <div class={chosen?.kind === 'schema' ? 'settings-block' : 'setting'}>
      <label class="setting-name" for={id}>
        {name}
      </label>
      <select
        id={id}
        class="field"
        value={String(at)}
        onChange={({ currentTarget }) => choose(Number(currentTarget.value))}
      >
        <option value="-1">{usualText(schema)}</option>
        {field.forms.map(({ label }, index) => (
          <option key={label} value={String(index)}>
            {label}
          </option>
        ))}
      </select>
      {!isSection && schema.description && <p class="hint">{schema.description}</p>}
      <Problems path={path} form={form} />
      {chosen?.kind === 'schema' && (
        <SettingField
          name={name}
          path={path}
          schema={chosen.schema}
          form={form}
          isSection
          isEntry
        />
      )}
    </div>
  );
}

interface ValueProps extends SettingProps {
  readonly field: ValueField;
  readonly written: unknown;
}

function Value({ name, path, schema, form, isEntry, field, written }: ValueProps): VNode {
  const id = fieldId(path);
  const [typed, setTyped] = useState(writeTyped(written));
  // What was typed stays as it is (1.0) as long as it means what the draft has.
  const isSame = JSON.stringify(readTyped(field, typed)) === JSON.stringify(written);
  const wrong = form.problems.filter(({ path: at }) => isWithin(at, path));
  const shared = {
    id,
    class: 'field',
    value: isSame ? typed : writeTyped(written),
    'aria-invalid': wrong.length > 0,
    'aria-describedby': `${id}-about`,
  };
  const take = ({
    currentTarget,
  }: {
    readonly currentTarget: { readonly value: string };
  }): void => {
    setTyped(currentTarget.value);
    form.set(path, readTyped(field, currentTarget.value) ?? (isEntry ? '' : undefined));
  };
  return (
    <div class="setting">
      <label class="setting-name" for={id}>
        {name}
      </label>
      <Input field={field} shared={shared} schema={schema} onInput={take} />
      <p class="hint" id={`${id}-about`}>
        {wrong.map(({ text }) => `${text} `)}
        {schema.description}
      </p>
    </div>
  );
}

interface InputProps {
  readonly field: ValueField;
  readonly shared: { readonly id: string; readonly class: string; readonly value: string };
  readonly schema: Schema;
  readonly onInput: (event: { readonly currentTarget: { readonly value: string } }) => void;
}

function Input({ field, shared, schema, onInput }: InputProps): VNode {
  switch (field.kind) {
    case 'switch':
    case 'choice': {
      const options = field.kind === 'switch' ? ['true', 'false'] : field.options;
      return (
        <select {...shared} onChange={onInput}>
          <option value="">{usualText(schema)}</option>
          {options.map((option) => (
            <option key={option}>{option}</option>
          ))}
        </select>
      );
    }
    case 'list':
      return <textarea {...shared} rows={3} placeholder="one a line" onInput={onInput} />;
    case 'json':
      return <textarea {...shared} rows={3} placeholder="JSON, or text" onInput={onInput} />;
    case 'text':
      return (
        <input
          {...shared}
          type={field.isSecret ? 'password' : 'text'}
          autoComplete="off"
          placeholder={usualOf(schema)}
          onInput={onInput}
        />
      );
  }
}

/** The problems of a block or list itself, not of a field in it. */
function Problems({ path, form }: { readonly path: Path; readonly form: SettingContext }) {
  const wrong = form.problems.filter(({ path: at }) => at === pathText(path));
  return wrong.length === 0 ? null : (
    <p class="hint is-wrong">{wrong.map(({ text }) => `${text} `)}</p>
  );
}

function Press({
  label,
  about,
  onPress,
}: {
  readonly label: string;
  readonly about: string;
  readonly onPress: () => void;
}): VNode {
  return <ActionButton label={label} name={`${label} ${about}`} onPress={onPress} />;
}

const fieldId = (path: Path): string => `setting-${path.join('.')}`;

function usualText(schema: Schema): string {
  const usual = usualOf(schema);
  return usual === '' ? 'not set' : `default: ${usual}`;
}

/** The default, where it is short. */
function usualOf({ default: usual }: Schema): string {
  return usual === undefined || usual === null || typeof usual === 'object' ? '' : String(usual);
}

/** Whether a problem is at a path or below it. */
export function isWithin(at: string, path: Path): boolean {
  const name = pathText(path);
  return at === name || at.startsWith(`${name}.`) || at.startsWith(`${name}[`);
}
