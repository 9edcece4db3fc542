import type { ComponentChildren, VNode } from 'preact';
import { useState } from 'preact/hooks';
import { ActionButton, TextButton } from '../ui/widgets.tsx';
import { formatPath, type SettingPath } from './draft.ts';
import { getSettingName, type SettingSchema } from './fields.ts';
import { countChanged } from './filter.ts';
import { fieldId, getEmptyValue, isProblemWithin, type SettingProps } from './setting-context.ts';

/** Text with the search words marked. */
function HighlightedText({
  text,
  words,
}: {
  readonly text: string;
  readonly words: readonly string[];
}): VNode {
  if (words.length === 0) return <>{text}</>;
  const escaped = words.map((word) => word.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  const parts = text.split(new RegExp(`(${escaped.join('|')})`, 'i'));
  return <>{parts.map((part, at) => (at % 2 === 1 ? <mark key={at}>{part}</mark> : part))}</>;
}

interface HeadProps extends SettingProps {
  readonly written: unknown;
}

/**
 * A field's name in plain words, its key for people who edit the file, and whether it differs from
 * its default.
 */
export function FieldHead(props: HeadProps & { readonly labels: string }): VNode {
  const { name, path, schema, form, isSection, labels } = props;
  if (isSection) {
    return (
      <label class="visually-hidden" for={labels}>
        {getSettingName(name, schema)}
      </label>
    );
  }
  return (
    <div class="row">
      <label class="entry-title" for={labels}>
        <HighlightedText text={getSettingName(name, schema)} words={form.marked} />
      </label>
      <SettingKey path={path} words={form.marked} />
      <SettingDifference {...props} />
      <ResetButton {...props} />
    </div>
  );
}

/** The same heading for a collapsible group; a section of the file gets a heading element. */
export function GroupHead(props: HeadProps): VNode {
  const { name, path, schema, form } = props;
  const label = <HighlightedText text={getSettingName(name, schema)} words={form.marked} />;
  return (
    <span class="row">
      {path.length === 1 ? <h4>{label}</h4> : <span class="entry-title">{label}</span>}
      <SettingKey path={path} words={form.marked} />
      <SettingDifference {...props} />
    </span>
  );
}

function SettingKey({
  path,
  words,
}: {
  readonly path: SettingPath;
  readonly words: readonly string[];
}) {
  const key = path.at(-1);
  return typeof key === 'number' ? null : (
    <code class="hint" title={formatPath(path)}>
      <HighlightedText text={key ?? ''} words={words} />
    </code>
  );
}

function SettingDifference({ path, schema, written }: HeadProps): VNode | null {
  if (countChanged(schema, written, path) === 0) return null;
  return <span class="hint tone is-new">{schema.default === undefined ? 'Set' : 'Changed'}</span>;
}

/** Resets a value in the file to its default. */
function ResetButton({ name, path, schema, form, written, isEntry }: HeadProps): VNode | null {
  if (written === undefined || written === null || isEntry) return null;
  const label = schema.default === undefined ? 'Remove' : 'Reset to default';
  return (
    <TextButton
      label={label}
      name={`${label}: ${getSettingName(name, schema)} (${formatPath(path)})`}
      onPress={() => form.set(path, undefined)}
    />
  );
}

/** The help text of a setting, and its problems. */
export function SettingHelp({
  path,
  schema,
  form,
  isWhole = false,
}: Pick<SettingProps, 'path' | 'schema' | 'form'> & {
  /**
   * Whether to show the problems of nested values here, because nested values do not have separate
   * fields.
   */
  readonly isWhole?: boolean;
}): VNode {
  const wrong = form.problems.filter(({ path: at }) =>
    isWhole ? isProblemWithin(at, path) : at === formatPath(path),
  );
  return (
    <div id={`${fieldId(path)}-about`} class="as-typed">
      {wrong.map(({ text }) => (
        <p key={text} class="hint tone is-wrong">
          {text}
        </p>
      ))}
      {schema.description && (
        <p class="hint">
          <HighlightedText text={schema.description} words={form.marked} />
        </p>
      )}
    </div>
  );
}

/** A button for a part of a setting; its accessible name includes that part. */
export function SettingButton({
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

interface AsTextProps extends HeadProps {
  readonly children: ComponentChildren;
}

/**
 * The fields of a block or list, or the same value as JSON, which can express anything that the
 * file can.
 */
export function FieldsOrText({ children, ...props }: AsTextProps): VNode {
  const [isText, setText] = useState(false);
  const label = isText ? 'Edit as fields' : 'Edit as text';
  return (
    <>
      {isText ? <JsonText {...props} /> : children}
      <div class="row">
        <TextButton
          label={label}
          name={`${label}: ${formatPath(props.path)}`}
          onPress={() => setText(!isText)}
        />
        <ResetButton {...props} />
      </div>
    </>
  );
}

function JsonText(props: HeadProps): VNode {
  const { path, form, written } = props;
  const [typed, setTyped] = useState({ text: formatJson(written), of: JSON.stringify(written) });
  // The typed text is kept as long as the draft has the value for which it was typed.
  const text = typed.of === JSON.stringify(written) ? typed.text : formatJson(written);
  const isBroken = parseJsonText(text) === BROKEN;
  const take = (next: string): void => {
    const value = parseJsonText(next);
    setTyped({ text: next, of: JSON.stringify(value === BROKEN ? written : value) });
    if (value !== BROKEN) form.set(path, value === undefined ? getEmptyValue(props) : value);
  };
  const id = `${fieldId(path)}-text`;
  return (
    <div class="setting">
      <textarea
        id={id}
        class="field is-code"
        aria-label={`${formatPath(path)} as JSON`}
        aria-invalid={isBroken}
        aria-describedby={`${id}-about`}
        rows={Math.min(16, Math.max(4, text.split('\n').length + 1))}
        value={text}
        onInput={({ currentTarget }) => take(currentTarget.value)}
      />
      <p id={`${id}-about`} class={isBroken ? 'hint tone is-wrong' : 'hint'}>
        {isBroken
          ? 'This is not valid JSON yet, so it is not used.'
          : 'JSON, which is also valid YAML. Leave it empty to use the default.'}
      </p>
    </div>
  );
}

const BROKEN = Symbol('no JSON');

/** The value of the text; undefined if the text is empty, `BROKEN` if it is not valid JSON. */
function parseJsonText(text: string): unknown {
  if (text.trim() === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return BROKEN;
  }
}

function formatJson(value: unknown): string {
  return value === undefined ? '' : JSON.stringify(value, null, 2);
}

/** The placeholder for an empty field. */
export function getPlaceholder(schema: SettingSchema): string {
  const usual = formatDefault(schema);
  return usual === '' ? 'Not set' : `Default: ${usual}`;
}

/** The default value, if it is short. */
export function formatDefault({ default: usual }: SettingSchema): string {
  return usual === undefined || usual === null || typeof usual === 'object' ? '' : String(usual);
}
