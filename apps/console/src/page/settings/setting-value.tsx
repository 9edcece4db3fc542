import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { SettingSchema, ValueField } from './fields.ts';
import { fieldId, getEmptyValue, isProblemWithin, type SettingProps } from './setting-context.ts';
import { FieldHead, formatDefault, getPlaceholder, SettingHelp } from './setting-parts.tsx';
import { formatTypedValue, parseTypedValue } from './typed.ts';

interface ValueProps extends SettingProps {
  readonly field: ValueField;
  readonly written: unknown;
}

type OnInput = (event: { readonly currentTarget: { readonly value: string } }) => void;

/** A setting with one typed or selected value. */
export function SettingValue(props: ValueProps): VNode {
  const { path, schema, form, isSection, isEntry, field, written } = props;
  const id = fieldId(path);
  // A new entry exists before its text is typed.
  const text = isEntry && written === '' ? '' : formatTypedValue(field, written);
  const [typed, setTyped] = useState(text);
  // Typed text such as 1.0 is kept as long as the draft has the same value.
  const isSame = JSON.stringify(parseTypedValue(field, typed)) === JSON.stringify(written);
  const isWrong = form.problems.some(({ path: at }) => isProblemWithin(at, path));
  const take: OnInput = ({ currentTarget: { value } }) => {
    setTyped(value);
    form.set(path, parseTypedValue(field, value) ?? getEmptyValue(props));
  };
  return (
    <div class="setting">
      <FieldHead {...props} labels={id} />
      <ValueInput
        field={field}
        schema={schema}
        onInput={take}
        shared={{
          id,
          class: 'field',
          value: isSame ? typed : text,
          'aria-invalid': isWrong,
          'aria-describedby': `${id}-about`,
        }}
      />
      <SettingHelp path={path} schema={isSection ? {} : schema} form={form} isWhole />
    </div>
  );
}

interface InputProps {
  readonly field: ValueField;
  readonly shared: {
    readonly id: string;
    readonly class: string;
    readonly value: string;
    readonly 'aria-invalid': boolean;
    readonly 'aria-describedby': string;
  };
  readonly schema: SettingSchema;
  readonly onInput: OnInput;
}

/** The value may also be a reference, which turns the selection into a text field. */
const A_REFERENCE = `\${NAME}`;

function ValueInput({ field, shared, schema, onInput }: InputProps): VNode {
  switch (field.kind) {
    case 'switch':
    case 'choice': {
      const options = field.kind === 'switch' ? ['true', 'false'] : field.options;
      return (
        <select {...shared} onChange={onInput}>
          <option value="">{getPlaceholder(schema)}</option>
          {options.map((option) => (
            <option key={option} value={option}>
              {field.kind === 'switch' ? SWITCH[option] : option}
            </option>
          ))}
          <option value={A_REFERENCE}>A variable or file …</option>
        </select>
      );
    }
    case 'list':
      return (
        <textarea
          {...shared}
          rows={rowsOf(shared.value)}
          placeholder="One per line; [] for an empty list"
          onInput={onInput}
        />
      );
    case 'json':
      return (
        <textarea
          {...shared}
          class="field is-code"
          rows={rowsOf(shared.value)}
          placeholder="JSON, or text"
          onInput={onInput}
        />
      );
    case 'text':
      return field.isLong ? (
        <textarea
          {...shared}
          rows={rowsOf(shared.value)}
          placeholder={formatDefault(schema)}
          onInput={onInput}
        />
      ) : (
        <input
          {...shared}
          type={field.isSecret ? 'password' : 'text'}
          autoComplete="off"
          placeholder={formatDefault(schema)}
          onInput={onInput}
        />
      );
  }
}

const SWITCH: Readonly<Record<string, string>> = { true: 'Yes (true)', false: 'No (false)' };

const rowsOf = (text: string): number => Math.min(12, Math.max(2, text.split('\n').length));
