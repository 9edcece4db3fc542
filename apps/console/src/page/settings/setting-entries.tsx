import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { formatPath, getValueAt, moveListEntry, renameBlockKey } from './draft.ts';
import { createEntryValue, isBlock, type SettingSchema } from './fields.ts';
import type { SettingProps } from './setting-context.ts';
import { SettingButton } from './setting-parts.tsx';

/** Renders a setting with everything inside it. */
export type SettingElement = (props: SettingProps) => VNode | null;

interface RecordProps extends SettingProps {
  readonly entry: SettingSchema;
  readonly Setting: SettingElement;
}

/**
 * Entries whose names are chosen by people, each with its name, followed by a field for adding
 * another entry.
 */
export function RecordEntries({ path, form, entry, Setting }: RecordProps): VNode {
  const record = getValueAt(form.draft, path);
  const keys = isBlock(record) ? Object.keys(record) : [];
  const [next, setNext] = useState('');
  const add = (): void => {
    const key = next.trim();
    if (key === '' || keys.includes(key)) return;
    form.set([...path, key], createEntryValue(entry));
    setNext('');
  };
  const where = formatPath(path);
  return (
    <>
      {keys.map((key, at) => (
        // Entries are keyed by position, because a name can change.
        <div class="stack settings-entry" key={at}>
          <div class="row">
            <NameInput
              label={`Name of ${where}.${key}`}
              name={key}
              onName={(to) => form.set(path, renameBlockKey(record, key, to))}
            />
            <SettingButton
              label="Remove"
              about={key}
              onPress={() => form.set([...path, key], undefined)}
            />
          </div>
          <Setting
            name={key}
            path={[...path, key]}
            schema={{ ...entry, title: key }}
            form={form}
            isEntry
            isSection
          />
        </div>
      ))}
      <div class="row">
        <input
          class="field"
          aria-label={`New name in ${where}`}
          placeholder="New name"
          value={next}
          onInput={({ currentTarget }) => setNext(currentTarget.value)}
          onKeyDown={(event) => onEnter(event, add)}
        />
        <SettingButton label="Add" about={`to ${where}`} onPress={add} />
      </div>
    </>
  );
}

/** A field for a name, which takes effect when the name is complete. */
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
      class="field"
      aria-label={label}
      value={name}
      onChange={({ currentTarget }) => onName(currentTarget.value.trim())}
      onKeyDown={(event) => onEnter(event, () => event.currentTarget.blur())}
    />
  );
}

/** Runs an action on Enter without submitting the form. */
function onEnter(event: KeyboardEvent, act: () => void): void {
  if (event.key !== 'Enter') return;
  event.preventDefault();
  act();
}

interface ListProps extends SettingProps {
  readonly item: SettingSchema;
  readonly Setting: SettingElement;
}

/** Entries in their order, with buttons for moving or removing each entry. */
export function ListItems({ name, path, form, item, Setting }: ListProps): VNode {
  const written = getValueAt(form.draft, path);
  const list: readonly unknown[] = Array.isArray(written) ? written : [];
  const move = (from: number, to: number) => () => form.set(path, moveListEntry(list, from, to));
  return (
    <>
      {list.map((_one, at) => {
        const about = `${name} ${at + 1}`;
        return (
          <div class="stack settings-entry" key={at}>
            <Setting
              name={about}
              path={[...path, at]}
              schema={{ ...item, title: `Entry ${at + 1}` }}
              form={form}
              isEntry
            />
            <div class="actions">
              {at > 0 && <SettingButton label="Up" about={about} onPress={move(at, at - 1)} />}
              {at < list.length - 1 && (
                <SettingButton label="Down" about={about} onPress={move(at, at + 1)} />
              )}
              <SettingButton
                label="Remove"
                about={about}
                onPress={() => form.set([...path, at], undefined)}
              />
            </div>
          </div>
        );
      })}
      <div class="actions">
        <SettingButton
          label="Add"
          about={`to ${formatPath(path)}`}
          onPress={() => form.set(path, [...list, createEntryValue(item)])}
        />
      </div>
    </>
  );
}
