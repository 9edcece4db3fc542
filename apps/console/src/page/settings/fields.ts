/** The subset of JSON Schema used by the settings schema. */
export interface SettingSchema {
  /** The setting's name in plain words. */
  readonly title?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly pattern?: string;
  readonly maxLength?: number;
  readonly properties?: Readonly<Record<string, SettingSchema>>;
  readonly required?: readonly string[];
  /** The schema of all entries in a record; false if all keys are known. */
  readonly additionalProperties?: SettingSchema | boolean;
  readonly items?: SettingSchema;
  readonly anyOf?: readonly SettingSchema[];
  readonly oneOf?: readonly SettingSchema[];
}

/** How the page displays one setting. */
export type SettingFieldKind =
  | { readonly kind: 'block'; readonly fields: readonly (readonly [string, SettingSchema])[] }
  /** Entries whose keys people choose. */
  | { readonly kind: 'record'; readonly entry: SettingSchema }
  /** Entries that do not fit on one line. */
  | { readonly kind: 'items'; readonly item: SettingSchema }
  /** One of several forms. */
  | { readonly kind: 'union'; readonly forms: readonly UnionForm[] }
  | { readonly kind: 'choice'; readonly options: readonly string[] }
  | { readonly kind: 'switch' }
  /** One entry per line. */
  | { readonly kind: 'list'; readonly numbers: boolean }
  | TextField
  /** Any value, as JSON. */
  | { readonly kind: 'json' };

/**
 * A line of text, or several for long text. Numbers and booleans are parsed only where the schema
 * allows them.
 */
export interface TextField {
  readonly kind: 'text';
  readonly numbers: boolean;
  readonly flags: boolean;
  readonly isSecret: boolean;
  readonly isLong: boolean;
}

/** A field with one typed or selected value. */
export type ValueField = Exclude<
  SettingFieldKind,
  { readonly kind: 'block' | 'record' | 'items' | 'union' }
>;

/** One form of a union: a keyword, or a value described by a schema. */
export type UnionForm =
  | { readonly kind: 'word'; readonly label: string; readonly word: unknown }
  | { readonly kind: 'schema'; readonly label: string; readonly schema: SettingSchema };

/** A reference, `${NAME}` or `${file:/path}`, which can replace any value. */
const REFERENCE = '\\$\\{.+\\}';
const SECRET = /token|secret|password|api_?key|headers$/i;
const LONG_REFERENCE = /\$\{.+\}/;

/** Settings that allow longer text than this, in characters, get a field with several lines. */
const ONE_LINE = 400;

/**
 * Chooses a field according to the schema. A value that does not fit the field, such as a
 * reference, is shown as it appears in the file.
 */
export function chooseField(
  name: string,
  schema: SettingSchema,
  written: unknown,
): SettingFieldKind {
  if (typeof written === 'string' && LONG_REFERENCE.test(written)) return REFERENCE_FIELD;
  const field = chooseFieldForSchema(name, schema, written);
  return canShowValue(field, written) ? field : { kind: 'json' };
}

const REFERENCE_FIELD: TextField = {
  kind: 'text',
  numbers: false,
  flags: false,
  isSecret: false,
  isLong: false,
};

function chooseFieldForSchema(
  name: string,
  schema: SettingSchema,
  written: unknown,
): SettingFieldKind {
  const forms = listValueSchemas(schema);
  const [first] = forms;
  if (forms.length === 1 && first !== undefined) return chooseFieldForForm(name, first, written);
  if (forms.some(isCompound)) return { kind: 'union', forms: listUnionForms(forms) };
  const words = listAllowedWords(forms);
  if (words.length > 0 && forms.every(hasWords)) {
    return { kind: 'choice', options: words.map(String) };
  }
  return createTextField(name, forms, written);
}

function chooseFieldForForm(name: string, form: SettingSchema, written: unknown): SettingFieldKind {
  if (form.properties !== undefined) {
    // The constant is not shown, because it was already used to choose this form of the union.
    const fields = Object.entries(form.properties).filter(([, one]) => one.const === undefined);
    return { kind: 'block', fields };
  }
  if (hasType(form, 'object')) {
    const entry = form.additionalProperties;
    return { kind: 'record', entry: typeof entry === 'object' ? entry : {} };
  }
  if (hasType(form, 'array')) {
    const items = listValueSchemas(form.items ?? {});
    return items.some(isCompound)
      ? { kind: 'items', item: form.items ?? {} }
      : { kind: 'list', numbers: items.some(isNumericSchema) };
  }
  if (hasWords(form)) return { kind: 'choice', options: listAllowedWords([form]).map(String) };
  if (hasType(form, 'boolean')) return { kind: 'switch' };
  if (form.type === undefined) return { kind: 'json' };
  return createTextField(name, [form], written);
}

function createTextField(
  name: string,
  forms: readonly SettingSchema[],
  written: unknown,
): TextField {
  const isSecret = SECRET.test(name);
  const mayBeLong = forms.some(({ maxLength = 0 }) => maxLength > ONE_LINE);
  const hasLines = typeof written === 'string' && written.includes('\n');
  return {
    kind: 'text',
    numbers: forms.some(isNumericSchema),
    flags: forms.some((form) => hasType(form, 'boolean')),
    isSecret,
    isLong: hasLines || (mayBeLong && !isSecret),
  };
}

/** Whether a field can show the written value; a missing value fits every field. */
function canShowValue(field: SettingFieldKind, written: unknown): boolean {
  if (written === undefined || written === null) return true;
  switch (field.kind) {
    case 'block':
    case 'record':
      return isBlock(written);
    case 'items':
      return Array.isArray(written);
    case 'list':
      return Array.isArray(written) && written.every((one) => isScalar(one, field.numbers, false));
    case 'union':
      return findMatchingForm(field.forms, written) >= 0;
    case 'switch':
      return typeof written === 'boolean' || written === '';
    case 'choice':
      return written === '' || field.options.some((option) => option === written);
    case 'text':
      return isScalar(written, field.numbers, field.flags);
    case 'json':
      return true;
  }
}

function isScalar(value: unknown, numbers: boolean, flags: boolean): boolean {
  if (typeof value === 'number') return numbers;
  return typeof value === 'boolean' ? flags : typeof value === 'string';
}

function listUnionForms(forms: readonly SettingSchema[]): readonly UnionForm[] {
  const plain = forms.filter((form) => !isCompound(form) && !hasWords(form));
  return [
    ...listAllowedWords(forms).map(
      (word): UnionForm => ({ kind: 'word', label: String(word), word }),
    ),
    ...(plain.length === 0
      ? []
      : [{ kind: 'schema', label: 'Another value', schema: { anyOf: plain } } as const]),
    ...forms
      .filter(isCompound)
      .map((schema): UnionForm => ({ kind: 'schema', label: getFormLabel(schema), schema })),
  ];
}

/**
 * The label that distinguishes a block: its constant, its title, its required keys, or its first
 * keys.
 */
function getFormLabel({ title, properties = {}, required = [], type }: SettingSchema): string {
  const words = Object.values(properties).flatMap(({ const: word }) => word ?? []);
  if (words.length > 0) return words.map(String).join(', ');
  if (title !== undefined) return title;
  const keys = Object.keys(properties);
  if (keys.length === 0) return hasType({ type: type ?? '' }, 'array') ? 'A list' : 'A block';
  const named = required.length > 0 ? required : keys.slice(0, 2);
  const names = named.map((key) => getSettingName(key, properties[key] ?? {}));
  return `${names.join(', ')}${keys.length > named.length ? ' …' : ''}`;
}

/** The setting's name in plain words; a plugin's setting without a title is named after its key. */
export function getSettingName(key: string, { title }: SettingSchema): string {
  if (title !== undefined) return title;
  const words = key.replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2').replaceAll(/[_-]+/g, ' ');
  return words.slice(0, 1).toUpperCase() + words.slice(1).toLowerCase();
}

/** The index of the form of the written value; -1 if no form fits. */
export function findMatchingForm(forms: readonly UnionForm[], written: unknown): number {
  if (written === undefined || written === null) return -1;
  const word = forms.findIndex((form) => form.kind === 'word' && form.word === written);
  if (word >= 0) return word;
  const points = forms.map((form) => (form.kind === 'word' ? -1 : scoreForm(form.schema, written)));
  const best = Math.max(...points);
  return best < 0 ? -1 : points.indexOf(best);
}

/**
 * Scores how well a form fits the written value: by kind, then by its constant, then by known keys.
 * The score is negative if the form does not fit.
 */
function scoreForm(schema: SettingSchema, written: unknown): number {
  const { properties } = schema;
  if (Array.isArray(written)) return hasType(schema, 'array') ? 0 : -1;
  if (!isBlock(written)) return isCompound(schema) ? -1 : 0;
  if (properties === undefined) return hasType(schema, 'object') ? 0 : -1;
  const known = Object.keys(written).filter((key) => key in properties).length;
  const isSame = [...listDistinguishingWords(schema)].every(([key, words]) =>
    words.includes(written[key]),
  );
  return isSame ? 1 + known : 0;
}

/**
 * The values, by key, that distinguish a form from other forms. Only constants and required keys
 * count.
 */
function listDistinguishingWords({
  properties = {},
  required = [],
}: SettingSchema): ReadonlyMap<string, readonly unknown[]> {
  const marks = Object.entries(properties).map(([key, one]) => {
    const forms = listValueSchemas(one);
    const isMark = one.const !== undefined || (required.includes(key) && forms.every(hasWords));
    return [key, isMark ? listAllowedWords(forms) : []] as const;
  });
  return new Map(marks.filter(([, words]) => words.length > 0));
}

/** The initial value for a form; written values that fit the form are kept. */
export function getInitialValue(form: UnionForm, written: unknown): unknown {
  if (form.kind === 'word') return form.word;
  const { properties } = form.schema;
  if (hasType(form.schema, 'array')) return [];
  if (!isCompound(form.schema)) return '';
  const marks = listDistinguishingWords(form.schema);
  const kept = isBlock(written)
    ? Object.entries(written).filter(
        ([key, value]) =>
          properties?.[key] !== undefined && (marks.get(key)?.includes(value) ?? true),
      )
    : [];
  // Required blocks are created, because they distinguish this form from other forms.
  const blocks = (form.schema.required ?? []).flatMap((key) => {
    const one = properties?.[key] ?? {};
    return listValueSchemas(one).every(isCompound) ? [[key, createEntryValue(one)] as const] : [];
  });
  const words = [...marks].map(([key, [word]]) => [key, word] as const);
  return Object.fromEntries([...blocks, ...words, ...kept]);
}

/** The initial value of a new entry. */
export function createEntryValue(schema: SettingSchema): unknown {
  const field = chooseField('', schema, undefined);
  if (field.kind === 'block' || field.kind === 'record') return {};
  if (field.kind === 'list' || field.kind === 'items') return [];
  if (field.kind === 'union' && field.forms[0] !== undefined)
    return getInitialValue(field.forms[0], {});
  return '';
}

/**
 * The keys that a block may contain in any of its forms; `entry` is the schema of all keys in a
 * record.
 */
export function listAllowedKeys(schema: SettingSchema): {
  readonly keys: readonly (readonly [string, SettingSchema])[];
  readonly entry: SettingSchema | undefined;
} {
  const forms = listValueSchemas(schema);
  const keys = new Map(forms.flatMap(({ properties }) => Object.entries(properties ?? {})));
  const entry = forms.find(({ additionalProperties: one }) => typeof one === 'object');
  return {
    keys: [...keys],
    entry: typeof entry?.additionalProperties === 'object' ? entry.additionalProperties : undefined,
  };
}

/** The schemas allowed for a value, without references. */
export function listValueSchemas(schema: SettingSchema): readonly SettingSchema[] {
  const forms = schema.anyOf ?? schema.oneOf;
  if (forms === undefined) return [schema];
  return forms.filter(({ pattern }) => pattern !== REFERENCE).flatMap(listValueSchemas);
}

const isCompound = (form: SettingSchema): boolean =>
  hasType(form, 'object') || hasType(form, 'array');

const hasWords = (form: SettingSchema): boolean =>
  form.const !== undefined || form.enum !== undefined;

function listAllowedWords(forms: readonly SettingSchema[]): readonly unknown[] {
  return forms.flatMap(({ const: word, enum: some = [] }) => (word === undefined ? some : [word]));
}

function isNumericSchema(schema: SettingSchema): boolean {
  return hasType(schema, 'integer') || hasType(schema, 'number');
}

function hasType({ type }: SettingSchema, name: string): boolean {
  return typeof type === 'string' ? type === name : (type?.includes(name) ?? false);
}

export function isBlock(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The schema of the setting at a path; empty if the schema does not describe it. */
export function findSchemaAt(
  schema: SettingSchema,
  path: readonly (string | number)[],
): SettingSchema {
  let here = schema;
  for (const step of path) {
    const { keys, entry } = listAllowedKeys(here);
    const item = listValueSchemas(here).find(({ items }) => items !== undefined)?.items;
    here =
      (typeof step === 'number' ? item : (keys.find(([key]) => key === step)?.[1] ?? entry)) ?? {};
  }
  return here;
}
