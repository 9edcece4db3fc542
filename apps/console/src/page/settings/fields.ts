/** As much of JSON Schema as the schema of the settings uses. */
export interface Schema {
  /** The name of the setting in plain words. */
  readonly title?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly pattern?: string;
  readonly maxLength?: number;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  /** The schema of every entry of a record; false where all keys are known. */
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
}

/** The form of one setting on the page. */
export type Field =
  | { readonly kind: 'block'; readonly fields: readonly (readonly [string, Schema])[] }
  /** Entries whose keys people choose. */
  | { readonly kind: 'record'; readonly entry: Schema }
  /** Entries that are no single line. */
  | { readonly kind: 'items'; readonly item: Schema }
  /** One of several forms. */
  | { readonly kind: 'union'; readonly forms: readonly Form[] }
  | { readonly kind: 'choice'; readonly options: readonly string[] }
  | { readonly kind: 'switch' }
  /** One entry a line. */
  | { readonly kind: 'list'; readonly numbers: boolean }
  | TextField
  /** Any value, as JSON. */
  | { readonly kind: 'json' };

/** One line, or several where the text is long. Only where the schema has them, numbers and flags are read as such. */
export interface TextField {
  readonly kind: 'text';
  readonly numbers: boolean;
  readonly flags: boolean;
  readonly isSecret: boolean;
  readonly isLong: boolean;
}

/** A field that a person types into, or chooses a word of. */
export type ValueField = Exclude<Field, { readonly kind: 'block' | 'record' | 'items' | 'union' }>;

/** One form of a union: a word, or what a schema describes. */
export type Form =
  | { readonly kind: 'word'; readonly label: string; readonly word: unknown }
  | { readonly kind: 'schema'; readonly label: string; readonly schema: Schema };

/** In its place any value may stand, as `${NAME}` or `${file:/path}`. */
const REFERENCE = '\\$\\{.+\\}';
const SECRET = /token|secret|password|api_?key|headers$/i;
const LONG_REFERENCE = /\$\{.+\}/;

/** A text that may be longer than this, in characters, gets several lines. */
const ONE_LINE = 400;

/** Decides by the schema alone, except that what does not fit it, such as a reference, is shown as it is written. */
export function fieldOf(name: string, schema: Schema, written: unknown): Field {
  if (typeof written === 'string' && LONG_REFERENCE.test(written)) return REFERENCE_FIELD;
  const field = fieldOfSchema(name, schema, written);
  return canShow(field, written) ? field : { kind: 'json' };
}

const REFERENCE_FIELD: TextField = {
  kind: 'text',
  numbers: false,
  flags: false,
  isSecret: false,
  isLong: false,
};

function fieldOfSchema(name: string, schema: Schema, written: unknown): Field {
  const forms = valueSchemas(schema);
  const [first] = forms;
  if (forms.length === 1 && first !== undefined) return fieldOfForm(name, first, written);
  if (forms.some(isCompound)) return { kind: 'union', forms: unionOf(forms) };
  const words = allowedWords(forms);
  if (words.length > 0 && forms.every(hasWords)) {
    return { kind: 'choice', options: words.map(String) };
  }
  return textField(name, forms, written);
}

function fieldOfForm(name: string, form: Schema, written: unknown): Field {
  if (form.properties !== undefined) {
    // A union has chosen the form that has this word; else there is nothing to choose.
    const fields = Object.entries(form.properties).filter(([, one]) => one.const === undefined);
    return { kind: 'block', fields };
  }
  if (hasType(form, 'object')) {
    const entry = form.additionalProperties;
    return { kind: 'record', entry: typeof entry === 'object' ? entry : {} };
  }
  if (hasType(form, 'array')) {
    const items = valueSchemas(form.items ?? {});
    return items.some(isCompound)
      ? { kind: 'items', item: form.items ?? {} }
      : { kind: 'list', numbers: items.some(isNumeric) };
  }
  if (hasWords(form)) return { kind: 'choice', options: allowedWords([form]).map(String) };
  if (hasType(form, 'boolean')) return { kind: 'switch' };
  if (form.type === undefined) return { kind: 'json' };
  return textField(name, [form], written);
}

function textField(name: string, forms: readonly Schema[], written: unknown): TextField {
  const isSecret = SECRET.test(name);
  const mayBeLong = forms.some(({ maxLength = 0 }) => maxLength > ONE_LINE);
  const hasLines = typeof written === 'string' && written.includes('\n');
  return {
    kind: 'text',
    numbers: forms.some(isNumeric),
    flags: forms.some((form) => hasType(form, 'boolean')),
    isSecret,
    isLong: hasLines || (mayBeLong && !isSecret),
  };
}

/** Whether a field can show what is written; nothing is shown by every one. */
function canShow(field: Field, written: unknown): boolean {
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
      return formWritten(field.forms, written) >= 0;
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

function unionOf(forms: readonly Schema[]): readonly Form[] {
  const plain = forms.filter((form) => !isCompound(form) && !hasWords(form));
  return [
    ...allowedWords(forms).map((word): Form => ({ kind: 'word', label: String(word), word })),
    ...(plain.length === 0
      ? []
      : [{ kind: 'schema', label: 'Another value', schema: { anyOf: plain } } as const]),
    ...forms
      .filter(isCompound)
      .map((schema): Form => ({ kind: 'schema', label: labelOf(schema), schema })),
  ];
}

/** The label that distinguishes a block: the word that it holds, its title, or the names of its required or first keys. */
function labelOf({ title, properties = {}, required = [], type }: Schema): string {
  const words = Object.values(properties).flatMap(({ const: word }) => word ?? []);
  if (words.length > 0) return words.map(String).join(', ');
  if (title !== undefined) return title;
  const keys = Object.keys(properties);
  if (keys.length === 0) return hasType({ type: type ?? '' }, 'array') ? 'A list' : 'A block';
  const named = required.length > 0 ? required : keys.slice(0, 2);
  const names = named.map((key) => nameOf(key, properties[key] ?? {}));
  return `${names.join(', ')}${keys.length > named.length ? ' …' : ''}`;
}

/** The name of a setting in plain words; one of a plugin that brings none gets the words of its key. */
export function nameOf(key: string, { title }: Schema): string {
  if (title !== undefined) return title;
  const words = key.replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2').replaceAll(/[_-]+/g, ' ');
  return words.slice(0, 1).toUpperCase() + words.slice(1).toLowerCase();
}

/** The form of a union that is written; -1 where none is. */
export function formWritten(forms: readonly Form[], written: unknown): number {
  if (written === undefined || written === null) return -1;
  const word = forms.findIndex((form) => form.kind === 'word' && form.word === written);
  if (word >= 0) return word;
  const points = forms.map((form) => (form.kind === 'word' ? -1 : pointsOf(form.schema, written)));
  const best = Math.max(...points);
  return best < 0 ? -1 : points.indexOf(best);
}

/** The score of a form for the written value: by kind, then by its word, then by known keys. Negative: not at all. */
function pointsOf(schema: Schema, written: unknown): number {
  const { properties } = schema;
  if (Array.isArray(written)) return hasType(schema, 'array') ? 0 : -1;
  if (!isBlock(written)) return isCompound(schema) ? -1 : 0;
  if (properties === undefined) return hasType(schema, 'object') ? 0 : -1;
  const known = Object.keys(written).filter((key) => key in properties).length;
  const isSame = [...markWords(schema)].every(([key, words]) => words.includes(written[key]));
  return isSame ? 1 + known : 0;
}

/** The words by which a form is told from others, by their keys: of those that it must have. */
function markWords({
  properties = {},
  required = [],
}: Schema): ReadonlyMap<string, readonly unknown[]> {
  const marks = Object.entries(properties).map(([key, one]) => {
    const forms = valueSchemas(one);
    const isMark = one.const !== undefined || (required.includes(key) && forms.every(hasWords));
    return [key, isMark ? allowedWords(forms) : []] as const;
  });
  return new Map(marks.filter(([, words]) => words.length > 0));
}

/** The value with which a form begins: what is written and fits it, too, stays. */
export function initialValue(form: Form, written: unknown): unknown {
  if (form.kind === 'word') return form.word;
  const { properties } = form.schema;
  if (hasType(form.schema, 'array')) return [];
  if (!isCompound(form.schema)) return '';
  const marks = markWords(form.schema);
  const kept = isBlock(written)
    ? Object.entries(written).filter(
        ([key, value]) =>
          properties?.[key] !== undefined && (marks.get(key)?.includes(value) ?? true),
      )
    : [];
  // A block that the form must have tells it from one that may be empty.
  const blocks = (form.schema.required ?? []).flatMap((key) => {
    const one = properties?.[key] ?? {};
    return valueSchemas(one).every(isCompound) ? [[key, startOfEntry(one)] as const] : [];
  });
  const words = [...marks].map(([key, [word]]) => [key, word] as const);
  return Object.fromEntries([...blocks, ...words, ...kept]);
}

/** The value with which a new entry begins. */
export function startOfEntry(schema: Schema): unknown {
  const field = fieldOf('', schema, undefined);
  if (field.kind === 'block' || field.kind === 'record') return {};
  if (field.kind === 'list' || field.kind === 'items') return [];
  if (field.kind === 'union' && field.forms[0] !== undefined)
    return initialValue(field.forms[0], {});
  return '';
}

/** The keys that may stand in a block, in whichever form; of a record the schema of every key as `entry`. */
export function keysOf(schema: Schema): {
  readonly keys: readonly (readonly [string, Schema])[];
  readonly entry: Schema | undefined;
} {
  const forms = valueSchemas(schema);
  const keys = new Map(forms.flatMap(({ properties }) => Object.entries(properties ?? {})));
  const entry = forms.find(({ additionalProperties: one }) => typeof one === 'object');
  return {
    keys: [...keys],
    entry: typeof entry?.additionalProperties === 'object' ? entry.additionalProperties : undefined,
  };
}

/** The forms that are allowed there, besides a reference. */
export function valueSchemas(schema: Schema): readonly Schema[] {
  const forms = schema.anyOf ?? schema.oneOf;
  if (forms === undefined) return [schema];
  return forms.filter(({ pattern }) => pattern !== REFERENCE).flatMap(valueSchemas);
}

const isCompound = (form: Schema): boolean => hasType(form, 'object') || hasType(form, 'array');

const hasWords = (form: Schema): boolean => form.const !== undefined || form.enum !== undefined;

function allowedWords(forms: readonly Schema[]): readonly unknown[] {
  return forms.flatMap(({ const: word, enum: some = [] }) => (word === undefined ? some : [word]));
}

function isNumeric(schema: Schema): boolean {
  return hasType(schema, 'integer') || hasType(schema, 'number');
}

function hasType({ type }: Schema, name: string): boolean {
  return typeof type === 'string' ? type === name : (type?.includes(name) ?? false);
}

export function isBlock(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The schema of the setting at a path; empty where the schema says nothing about it. */
export function schemaAt(schema: Schema, path: readonly (string | number)[]): Schema {
  let here = schema;
  for (const step of path) {
    const { keys, entry } = keysOf(here);
    const item = valueSchemas(here).find(({ items }) => items !== undefined)?.items;
    here =
      (typeof step === 'number' ? item : (keys.find(([key]) => key === step)?.[1] ?? entry)) ?? {};
  }
  return here;
}
