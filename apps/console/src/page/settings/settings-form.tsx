import type { ShownProblem, ShownSettings } from '@parley/gateway/api';
import type { VNode } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { hrefOf } from '../route.ts';
import { counted } from '../ui/format.ts';
import { ActionButton } from '../ui/widgets.tsx';
import { changesToWrite, type Path, type Save, valueAt, withValue } from './draft.ts';
import { type Schema, schemaAt } from './fields.ts';
import { countChanged, type Filter, filterOf, isAll, isShown } from './filter.ts';
import { groupOf, SETTINGS_GROUPS, type SettingsGroup } from './groups.ts';
import type { SettingContext } from './setting-context.ts';
import { SettingField } from './setting-field.tsx';

/** Edited values, based on the file with this print. */
export interface Edited {
  readonly print: string;
  readonly values: unknown;
}

interface FormProps {
  readonly settings: ShownSettings;
  readonly schema: Schema;
  readonly problems: readonly ShownProblem[];
  readonly save: Save;
  /** The id of the group in the address. */
  readonly chosen: string;
  /** The unsaved edits; they survive a switch to the file. */
  readonly edited: Edited | undefined;
  readonly setEdited: (edit: (now: Edited | undefined) => Edited | undefined) => void;
}

/** All settings by task, with a search. Only changed values are saved. */
export function SettingsForm(props: FormProps): VNode {
  const { settings, schema, problems, save, chosen, edited, setEdited } = props;
  const { values, print } = settings;
  const [query, setQuery] = useState('');
  const [isChangedOnly, setChangedOnly] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  if (values === null) {
    return <p class="nothing">The file is not valid YAML. Fix it in the File tab.</p>;
  }
  // Edits apply only to the version of the file they are based on.
  const ofThis = (one: Edited | undefined): unknown => (one?.print === print ? one.values : values);
  const draft = ofThis(edited);
  const changes = changesToWrite(values, draft, schema);
  const filter = filterOf(query, isChangedOnly);
  const form: SettingContext = {
    draft,
    problems,
    filter,
    marked: filter.words,
    set: (path: Path, value: unknown) =>
      setEdited((now) => ({ print, values: withValue(ofThis(now), path, value) })),
  };
  const onSubmit = (event: Event): void => {
    event.preventDefault();
    if (changes.length > 0) save({ changes });
  };
  const group = SETTINGS_GROUPS.find(({ id }) => id === chosen) ?? SETTINGS_GROUPS[0];
  const shown = isAll(filter) && group !== undefined ? [group] : SETTINGS_GROUPS;
  return (
    <div class="settings" ref={box}>
      <Search query={query} setQuery={setQuery} filter={filter} setChangedOnly={setChangedOnly} />
      <Groups
        form={form}
        schema={schema}
        chosen={isAll(filter) ? group?.id : undefined}
        onChoose={() => {
          setQuery('');
          setChangedOnly(false);
          // A newly selected group is shown from its beginning.
          box.current?.scrollIntoView({ block: 'start' });
        }}
      />
      <form onSubmit={onSubmit}>
        <Hits form={form} schema={schema} groups={shown} />
        <div class="row settings-save">
          <ActionButton
            label={
              changes.length === 0 ? 'Nothing to save' : `Save ${counted(changes.length, 'change')}`
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
  readonly filter: Filter;
  readonly setChangedOnly: (isChangedOnly: boolean) => void;
}

function Search({ query, setQuery, filter, setChangedOnly }: SearchProps): VNode {
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
  readonly schema: Schema;
  readonly chosen: string | undefined;
  readonly onChoose: () => void;
}

/** The groups, each with its number of changed settings and a mark if it contains a problem. */
function Groups({ form, schema, chosen, onChoose }: GroupsProps): VNode {
  return (
    <nav class="settings-groups" aria-label="Groups of settings">
      {SETTINGS_GROUPS.map((group) => {
        const counts = group.parts.map((part) => {
          const { path, schema: own } = settingOf(part, schema);
          return countChanged(own, valueAt(form.draft, path), path);
        });
        const changed = counts.reduce((all, count) => all + count, 0);
        const isWrong = form.problems.some(({ path }) => groupOf(keysIn(path)) === group);
        return (
          <a
            key={group.id}
            class="quiet"
            href={hrefOf('settings', group.id)}
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

interface HitsProps {
  readonly form: SettingContext;
  readonly schema: Schema;
  readonly groups: readonly SettingsGroup[];
}

/**
 * The settings of the given groups; groups without matching settings are left out when there are
 * several.
 */
function Hits({ form, schema, groups }: HitsProps): VNode {
  const shown = groups.flatMap((group) => {
    const parts = group.parts
      .map((part) => settingOf(part, schema))
      .filter((one) => isShown(form.filter, { ...one, written: valueAt(form.draft, one.path) }));
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

function settingOf(part: string, schema: Schema) {
  const path = part.split('.');
  return { name: path.at(-1) ?? part, path, schema: schemaAt(schema, path) };
}

/** Parses the path notation of problems into keys. */
const keysIn = (path: string): Path => path.split(/[.[\]]+/).filter((key) => key !== '');
