import type { SettingsProblemSummary, SettingsResponse } from '@parley/gateway/api';
import type { VNode } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { toHref } from '../route.ts';
import { formatCounted } from '../ui/format.ts';
import { ActionButton } from '../ui/widgets.tsx';
import {
  getValueAt,
  listChangesToWrite,
  replaceValueAt,
  type SaveSettings,
  type SettingPath,
} from './draft.ts';
import { findSchemaAt, type SettingSchema } from './fields.ts';
import { countChanged, createFilter, isAll, isSettingShown, type SettingFilter } from './filter.ts';
import { findGroup, SETTINGS_GROUPS, type SettingsGroup } from './groups.ts';
import type { SettingContext } from './setting-context.ts';
import { SettingField } from './setting-field.tsx';

/** Edited values, based on the file version with this fingerprint. */
export interface EditedValues {
  readonly print: string;
  readonly values: unknown;
}

interface FormProps {
  readonly settings: SettingsResponse;
  readonly schema: SettingSchema;
  readonly problems: readonly SettingsProblemSummary[];
  readonly save: SaveSettings;
  /** The id of the group in the address. */
  readonly chosen: string;
  /** The unsaved edits, which survive switching to the file. */
  readonly edited: EditedValues | undefined;
  readonly setEdited: (edit: (now: EditedValues | undefined) => EditedValues | undefined) => void;
}

/** All settings, grouped by task, with a search field. Only changed values are saved. */
export function SettingsForm(props: FormProps): VNode {
  const { settings, schema, problems, save, chosen, edited, setEdited } = props;
  const { values, print } = settings;
  const [query, setQuery] = useState('');
  const [isChangedOnly, setChangedOnly] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  if (values === null) {
    return <p class="nothing">The file is not valid YAML. Fix it in the File tab.</p>;
  }
  // Edits apply only to the version of the file on which they are based.
  const ofThis = (one: EditedValues | undefined): unknown =>
    one?.print === print ? one.values : values;
  const draft = ofThis(edited);
  const changes = listChangesToWrite(values, draft, schema);
  const filter = createFilter(query, isChangedOnly);
  const form: SettingContext = {
    draft,
    problems,
    filter,
    marked: filter.words,
    set: (path: SettingPath, value: unknown) =>
      setEdited((now) => ({ print, values: replaceValueAt(ofThis(now), path, value) })),
  };
  const onSubmit = (event: Event): void => {
    event.preventDefault();
    if (changes.length > 0) save({ changes });
  };
  const group = SETTINGS_GROUPS.find(({ id }) => id === chosen) ?? SETTINGS_GROUPS[0];
  const shown = isAll(filter) && group !== undefined ? [group] : SETTINGS_GROUPS;
  return (
    <div class="settings" ref={box}>
      <SettingsSearch
        query={query}
        setQuery={setQuery}
        filter={filter}
        setChangedOnly={setChangedOnly}
      />
      <SettingsGroups
        form={form}
        schema={schema}
        chosen={isAll(filter) ? group?.id : undefined}
        onChoose={() => {
          setQuery('');
          setChangedOnly(false);
          // When another group is selected, its beginning is shown.
          box.current?.scrollIntoView({ block: 'start' });
        }}
      />
      <form onSubmit={onSubmit}>
        <MatchingSettings form={form} schema={schema} groups={shown} />
        <div class="row settings-save">
          <ActionButton
            label={
              changes.length === 0
                ? 'Nothing to save'
                : `Save ${formatCounted(changes.length, 'change')}`
            }
            look="is-main"
            isBusy={changes.length === 0}
            isSubmit
          />
          {changes.length > 0 && (
            <ActionButton label="Discard" onPress={() => setEdited(() => undefined)} />
          )}
        </div>
      </form>
    </div>
  );
}

interface SearchProps {
  readonly query: string;
  readonly setQuery: (query: string) => void;
  readonly filter: SettingFilter;
  readonly setChangedOnly: (isChangedOnly: boolean) => void;
}

function SettingsSearch({ query, setQuery, filter, setChangedOnly }: SearchProps): VNode {
  return (
    <div class="row settings-search" role="search">
      <input
        type="search"
        class="field"
        aria-label="Search settings"
        placeholder="Search settings"
        value={query}
        onInput={({ currentTarget }) => setQuery(currentTarget.value)}
      />
      <label>
        <input
          type="checkbox"
          checked={filter.isChangedOnly}
          onChange={({ currentTarget }) => setChangedOnly(currentTarget.checked)}
        />{' '}
        Only changed
      </label>
    </div>
  );
}

interface GroupsProps {
  readonly form: SettingContext;
  readonly schema: SettingSchema;
  readonly chosen: string | undefined;
  readonly onChoose: () => void;
}

/** The groups, each with the number of changed settings and a mark if there is a problem. */
function SettingsGroups({ form, schema, chosen, onChoose }: GroupsProps): VNode {
  return (
    <nav class="settings-groups" aria-label="Groups of settings">
      {SETTINGS_GROUPS.map((group) => {
        const counts = group.parts.map((part) => {
          const { path, schema: own } = findSetting(part, schema);
          return countChanged(own, getValueAt(form.draft, path), path);
        });
        const changed = counts.reduce((all, count) => all + count, 0);
        const isWrong = form.problems.some(({ path }) => findGroup(keysIn(path)) === group);
        return (
          <a
            key={group.id}
            class="quiet"
            href={toHref('settings', group.id)}
            aria-current={group.id === chosen ? 'page' : undefined}
            onClick={onChoose}
          >
            {group.title}
            {isWrong && <span class="hint tone is-wrong">Problem</span>}
            {changed > 0 && !isWrong && <span class="hint">{changed} set</span>}
          </a>
        );
      })}
    </nav>
  );
}

interface MatchingSettingsProps {
  readonly form: SettingContext;
  readonly schema: SettingSchema;
  readonly groups: readonly SettingsGroup[];
}

/**
 * The settings in the given groups; if there are several, groups without matching settings are left
 * out.
 */
function MatchingSettings({ form, schema, groups }: MatchingSettingsProps): VNode {
  const shown = groups.flatMap((group) => {
    const parts = group.parts
      .map((part) => findSetting(part, schema))
      .filter((one) =>
        isSettingShown(form.filter, { ...one, written: getValueAt(form.draft, one.path) }),
      );
    return parts.length === 0 ? [] : [{ group, parts }];
  });
  if (shown.length === 0) return <p class="nothing">No settings found.</p>;
  return (
    <>
      {shown.map(({ group, parts }) => (
        <section key={group.id} class="stack settings-group" aria-label={group.title}>
          <h3>{group.title}</h3>
          {parts.map(({ name, path, schema: one }) => (
            <SettingField key={path.join('.')} name={name} path={path} schema={one} form={form} />
          ))}
        </section>
      ))}
    </>
  );
}

function findSetting(part: string, schema: SettingSchema) {
  const path = part.split('.');
  return { name: path.at(-1) ?? part, path, schema: findSchemaAt(schema, path) };
}

/** Parses a path as in problems into keys. */
const keysIn = (path: string): SettingPath => path.split(/[.[\]]+/).filter((key) => key !== '');
