import { readFileSync } from 'node:fs';
import { loadAdapterCatalog } from '@parley/channel-chat-sdk';
import { CHANNEL_DEFINITIONS } from '@parley/gateway';
import { ModelSettings } from '@parley/models';
import { createSettingsJsonSchema } from '@parley/settings/schema';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import {
  getValueAt,
  listChangesToWrite,
  replaceValueAt,
  type SettingPath,
} from '../../apps/console/src/page/settings/draft.ts';
import {
  chooseField,
  findMatchingForm,
  findSchemaAt,
  getInitialValue,
  isBlock,
  listAllowedKeys,
  listValueSchemas,
  type SettingFieldKind,
  type SettingSchema,
} from '../../apps/console/src/page/settings/fields.ts';
import { formatTypedValue, parseTypedValue } from '../../apps/console/src/page/settings/typed.ts';
import { changeSettingsText } from '../../packages/settings/src/change-text.ts';

const schema = createSettingsJsonSchema({
  modelSchema: ModelSettings,
  channelSchemas: Object.fromEntries(CHANNEL_DEFINITIONS.map(({ id, settings }) => [id, settings])),
  hostedSchema: loadAdapterCatalog().AnyAdapterSettings,
}) as SettingSchema;

interface Setting {
  readonly path: SettingPath;
  readonly schema: SettingSchema;
}

/** All settings; `entry` and 0 stand for entries that people name or add. */
function settingsIn(one: SettingSchema, path: SettingPath): readonly Setting[] {
  const { keys, entry } = listAllowedKeys(one);
  const item = listValueSchemas(one).find(({ items }) => items !== undefined)?.items;
  const inner: (readonly [string | number, SettingSchema])[] = [...keys];
  if (entry !== undefined) inner.push(['entry', entry]);
  if (item !== undefined) inner.push([0, item]);
  return inner.flatMap(([key, schemaOfKey]) => {
    const below = [...path, key];
    return [{ path: below, schema: schemaOfKey }, ...settingsIn(schemaOfKey, below)];
  });
}

const SETTINGS = settingsIn(schema, []).filter(({ path }) => path[0] !== 'version');

/**
 * Settings that Parley names; the contents of options and schemas that people supply are not named.
 */
const NAMED = SETTINGS.filter(
  ({ path }) =>
    !['entry', 0].includes(path.at(-1) ?? 0) &&
    !path.includes('options') &&
    !path.includes('responseFormat'),
);

/** The value that the form writes: fields, blocks and lists are parsed from their text. */
function throughForm({ path, schema: one }: Setting, value: unknown): unknown {
  const field = chooseField(String(path.at(-1)), one, value);
  return isTyped(field)
    ? parseTypedValue(field, formatTypedValue(field, value))
    : JSON.parse(JSON.stringify(value));
}

/** References to values that are stored elsewhere, and a value that only looks like a reference. */
const REFERENCES = [`\${NAME}`, `\${file:/run/secrets/a b}`, `\${NAME:-5}`, `$\${NAME}`];

const isChosen = ({ path, schema: one }: Setting): boolean =>
  ['switch', 'choice'].includes(chooseField(String(path.at(-1)), one, '').kind);

function isTyped(
  field: SettingFieldKind,
): field is Exclude<SettingFieldKind, { kind: 'block' | 'record' | 'items' | 'union' }> {
  return !['block', 'record', 'items', 'union'].includes(field.kind);
}

/** The file after the form has saved a value. */
function savedBy(path: SettingPath, value: unknown): unknown {
  const changes = listChangesToWrite(
    { version: 2 },
    replaceValueAt({ version: 2 }, path, value),
    schema,
  );
  const result = changeSettingsText(
    'version: 2\n# mine\n',
    changes.map((change) => ({ kind: 'set', path: change.path, value: change.value as never })),
  );
  if (result.kind === 'refused') throw new Error(JSON.stringify(result.problems));
  expect(result.text).toContain('# mine');
  return parse(result.text);
}

/**
 * The form can set an entry of an existing list, and creates a missing list with its first entry.
 */
function withLists(path: SettingPath, value: unknown): readonly [SettingPath, unknown] {
  const at = path.indexOf(0);
  if (at < 0) return [path, value];
  const whole = path
    .slice(at)
    .reduceRight<unknown>((inner, step) => (step === 0 ? [inner] : { [step]: inner }), value);
  return [path.slice(0, at), whole];
}

describe('every setting', () => {
  it('[U03] has a plain-language name that is not its key', () => {
    expect(NAMED.length).toBeGreaterThan(500);
    const wrong = NAMED.filter(
      ({ path, schema: { title = '' } }) => !/^\p{Lu}/u.test(title) || title === path.at(-1),
    );
    expect(wrong.map(({ path }) => path.join('.'))).toEqual([]);
  });

  it('[U03] has a sentence of help in the form and in file editors', () => {
    const silent = NAMED.filter(
      ({ schema: { description = '' } }) => !/^[\p{L}\d].*[.…]$/su.test(description),
    );
    expect(silent.map(({ path }) => path.join('.'))).toEqual([]);
  });

  it('[U03] has a name that is unique among its siblings', () => {
    const names = new Map<string, string>();
    const same = SETTINGS.flatMap(({ path, schema: { title } }) => {
      const key = `${path.slice(0, -1).join('.')} ${title}`;
      const other = names.get(key);
      names.set(key, path.join('.'));
      return title === undefined || other === undefined ? [] : [`${other} ${path.join('.')}`];
    });
    expect(same).toEqual([]);
  });

  it('[D12] is written to the file by the form without changing its value', () => {
    const odd = ['', '5', 'true', 'null', '~', '"a"', '[]', 'a\nb', ' a', '- a', '# a', 'a: b'];
    const text = fc.oneof(fc.string(), fc.constantFrom(...odd, ...REFERENCES));
    const key = fc.oneof(fc.constantFrom('a', 'token', 'a.b', '5', 'null', '#', ''), fc.string());
    const { value } = fc.letrec((tie) => ({
      scalar: fc.oneof(text, fc.integer(), fc.boolean()),
      // As a whole value, null means absent, like a key without a value.
      inner: fc.oneof({ depthSize: 'small' }, tie('value'), fc.constant(null)),
      value: fc.oneof(
        { depthSize: 'small' },
        tie('scalar'),
        fc.array(tie('inner'), { maxLength: 3 }),
        fc.dictionary(key, tie('inner'), { minKeys: 1, maxKeys: 4, noNullPrototype: true }),
      ),
    }));
    // A list or a block exists once it contains a value.
    const run = fc.property(fc.constantFrom(...SETTINGS), value, (setting, one) => {
      // A new entry of a list with fixed choices is empty until one is chosen, and is never written
      // to the file.
      fc.pre(one !== '' || !isChosen(setting));
      const set = throughForm(setting, one);
      expect(set).toEqual(one);
      const [path, whole] = withLists(setting.path, set);
      expect(getValueAt(savedBy(path, whole), path)).toEqual(whole);
    });
    fc.assert(run, { numRuns: 400 });
  });

  it('[D12] with several forms keeps the selected form and the values that fit it', () => {
    const unions = SETTINGS.flatMap((setting) => {
      const field = chooseField(String(setting.path.at(-1)), setting.schema, undefined);
      return field.kind === 'union' ? [{ ...setting, forms: field.forms }] : [];
    });
    expect(unions.length).toBeGreaterThan(20);
    for (const { path, forms } of unions) {
      for (const [index, form] of forms.entries()) {
        for (const other of forms) {
          const start = getInitialValue(form, getInitialValue(other, undefined));
          // The field of a plain value is still empty.
          if (start === '') continue;
          expect(findMatchingForm(forms, start), `${path.join('.')}: ${form.label}`).toBe(index);
        }
      }
    }
  });

  it('[D12] that is optional can be switched on by an empty block', () => {
    expect(savedBy(['queue', 'cluster'], {})).toEqual({ version: 2, queue: { cluster: {} } });
    expect(savedBy(['heartbeat'], {})).toEqual({ version: 2 });
  });
});

describe('the example settings file', () => {
  const text = readFileSync(new URL('../../config/parley.example.yaml', import.meta.url), 'utf8');
  const values: unknown = parse(text.replaceAll(/^#(?=\w| {2,}\S)/gm, ''));

  /** Every value in the file, including blocks, lists and their contents. */
  function written(value: unknown, path: SettingPath): readonly SettingPath[] {
    if (Array.isArray(value))
      return [path, ...value.flatMap((one, at) => written(one, [...path, at]))];
    if (!isBlock(value)) return [path];
    return [path, ...Object.entries(value).flatMap(([key, one]) => written(one, [...path, key]))];
  }

  it('[D12] appears in the form with a field for each value, and is written back unchanged', () => {
    const paths = written(values, []).filter((path) => path.length > 0);
    expect(paths.length).toBeGreaterThan(150);
    let draft = values;
    for (const path of paths) {
      const one = findSchemaAt(schema, path);
      const value = getValueAt(values, path);
      const { kind } = chooseField(String(path.at(-1)), one, value);
      // The form offers a choice of model, which also sets the provider.
      if (path.at(-1) !== 'provider') expect(kind, path.join('.')).not.toBe('json');
      draft = replaceValueAt(draft, path, throughForm({ path, schema: one }, value));
    }
    expect(draft).toEqual(values);
    expect(listChangesToWrite(values, draft, schema)).toEqual([]);
  });
});
