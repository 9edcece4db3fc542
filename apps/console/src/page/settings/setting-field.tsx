import type { ComponentChildren, VNode } from 'preact';
import { useState } from 'preact/hooks';
import { formatPath, getValueAt, isClearedAt } from './draft.ts';
import {
  chooseField,
  findMatchingForm,
  getInitialValue,
  isBlock,
  type SettingFieldKind,
  type SettingSchema,
} from './fields.ts';
import { ALL, countChanged, isAll, isSettingShown, matchesWords } from './filter.ts';
import { isPart } from './groups.ts';
import { fieldId, getEmptyValue, isProblemWithin, type SettingProps } from './setting-context.ts';
import { ListItems, RecordEntries } from './setting-entries.tsx';
import {
  FieldHead,
  FieldsOrText,
  GroupHead,
  getPlaceholder,
  SettingButton,
  SettingHelp,
} from './setting-parts.tsx';
import { SettingValue } from './setting-value.tsx';

/**
 * A setting with everything inside it, rendered according to its schema. Nothing is rendered if the
 * filter excludes it.
 */
export function SettingField(given: SettingProps): VNode | null {
  const { name, path, schema, form } = given;
  const written = getValueAt(form.draft, path);
  if (!isSettingShown(form.filter, { path, schema, written })) return null;
  const props = isWhole(given)
    ? { ...given, form: { ...form, filter: withoutWords(form) } }
    : given;
  const field = chooseField(name, schema, written);
  switch (field.kind) {
    case 'block':
      return (
        <SettingGroup {...props}>
          <BlockFields {...props} fields={field.fields} />
        </SettingGroup>
      );
    case 'record':
      return (
        <SettingGroup {...props}>
          <RecordEntries {...props} entry={field.entry} Setting={SettingField} />
        </SettingGroup>
      );
    case 'items':
      return (
        <SettingGroup {...props}>
          <ListItems {...props} item={field.item} Setting={SettingField} />
        </SettingGroup>
      );
    case 'union':
      return <UnionField {...props} field={field} written={written} />;
    default:
      // The field is keyed by kind, so that a different kind of field does not keep the typed text.
      return <SettingValue key={field.kind} {...props} field={field} written={written} />;
  }
}

/** Whether the block itself matches the search; if it does, all of its contents are shown. */
const isWhole = ({ path, schema, form }: SettingProps): boolean =>
  form.filter.words.length > 0 && matchesWords(form.filter, { path, schema });

const withoutWords = ({ filter }: SettingProps['form']) => ({ ...filter, words: ALL.words });

interface GroupProps extends SettingProps {
  readonly children: ComponentChildren;
}

/** Several settings under a common name, with the problems of the block as a whole. */
function SettingGroup(props: GroupProps): VNode {
  const { path, schema, form, isSection, isEntry, children } = props;
  const written = getValueAt(form.draft, path);
  const fields = (
    <FieldsOrText {...props} written={written}>
      {children}
    </FieldsOrText>
  );
  if (isSection) {
    return (
      <div class="stack settings-block">
        <SettingHelp path={path} schema={{}} form={form} />
        {fields}
      </div>
    );
  }
  // A block without a default may be absent until a person adds it.
  const isNothing = written === undefined || written === null;
  const isAbsent = path.length > 1 && schema.default === undefined && isNothing && !isEntry;
  const isOpen =
    isEntry ||
    path.length === 1 ||
    !isAll(form.filter) ||
    countChanged(schema, written, path) > 0 ||
    form.problems.some(({ path: at }) => isProblemWithin(at, path));
  return (
    <details class="settings-inner" open={isOpen}>
      <summary>
        <GroupHead {...props} written={written} />
      </summary>
      <div class="stack settings-block">
        <SettingHelp path={path} schema={schema} form={form} />
        {isAbsent && isBlockSchema(schema) && isAll(form.filter) ? (
          <div class="actions">
            <SettingButton
              label="Set up"
              about={formatPath(path)}
              onPress={() => form.set(path, {})}
            />
          </div>
        ) : (
          fields
        )}
      </div>
    </details>
  );
}

const isBlockSchema = ({ properties }: SettingSchema): boolean => properties !== undefined;

/** The settings in a block, and unknown keys in the file. */
function BlockFields({
  path,
  form,
  schema,
  fields,
}: SettingProps & { readonly fields: readonly (readonly [string, SettingSchema])[] }): VNode {
  const written = getValueAt(form.draft, path);
  const known = new Set(Object.keys(schema.properties ?? {}));
  const unknown = isBlock(written) ? Object.keys(written).filter((key) => !known.has(key)) : [];
  const own = fields.filter(([key]) => !isPart([...path, key]));
  return (
    <>
      {[...own, ...unknown.map((key) => [key, UNKNOWN] as const)].map(([key, one]) => (
        <SettingField key={key} name={key} path={[...path, key]} schema={one} form={form} />
      ))}
    </>
  );
}

/** A key in the file that is not in the schema; it is a mistake or belongs to a plugin. */
const UNKNOWN: SettingSchema = { description: 'Parley does not know this key.' };

interface UnionProps extends SettingProps {
  readonly field: Extract<SettingFieldKind, { kind: 'union' }>;
  readonly written: unknown;
}

/**
 * A choice between several forms, and the fields of the chosen form. Values that fit the new form
 * are kept.
 */
function UnionField(props: UnionProps): VNode {
  const { name, path, schema, form, isSection, field, written } = props;
  const found = findMatchingForm(field.forms, written);
  const [last, setLast] = useState(found);
  // The form of a cleared value stays the one in which the value was typed.
  const at = isClearedAt(form.draft, path) ? last : found;
  const chosen = field.forms[at];
  const id = `${fieldId(path)}-form`;
  const choose = (index: number): void => {
    const next = field.forms[index];
    setLast(index);
    form.set(path, next === undefined ? getEmptyValue(props) : getInitialValue(next, written));
  };
  return (
    <div class="setting">
      <FieldHead {...props} labels={id} />
      <select
        id={id}
        class="field"
        value={String(at)}
        aria-describedby={`${fieldId(path)}-about`}
        onChange={({ currentTarget }) => choose(Number(currentTarget.value))}
      >
        <option value="-1">{getPlaceholder(schema)}</option>
        {field.forms.map(({ label }, index) => (
          <option key={label} value={String(index)}>
            {label}
          </option>
        ))}
      </select>
      <SettingHelp path={path} schema={isSection ? {} : schema} form={form} />
      {chosen?.kind === 'schema' && (
        <div class="stack settings-block">
          <SettingField
            name={name}
            path={path}
            schema={chosen.schema}
            form={form}
            isSection
            isEntry
          />
        </div>
      )}
    </div>
  );
}
