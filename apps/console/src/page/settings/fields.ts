/** As much of JSON Schema as the schema of the settings uses. */
export interface Schema {
  readonly description?: string;
  readonly default?: unknown;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly pattern?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
}

/** How one setting is shown and read. */
export type Field =
  | { readonly kind: 'block'; readonly fields: readonly (readonly [string, Schema])[] }
  | { readonly kind: 'choice'; readonly options: readonly string[] }
  | { readonly kind: 'switch' }
  /** One entry a line. */
  | { readonly kind: 'list'; readonly numbers: boolean }
  | { readonly kind: 'text'; readonly numbers: boolean; readonly isSecret: boolean }
  /** It has too many forms for a field. */
  | { readonly kind: 'file' };

/** In its place any value may stand, as `${NAME}` or `${file:/path}`. */
const REFERENCE = '\\$\\{.+\\}';
const SECRET = /token|secret|password|apikey|headers$/i;
const LONG_REFERENCE = /\$\{.+\}/;

/** Decides by the schema, and by what the file has there. */
export function fieldOf(name: string, schema: Schema, written: unknown): Field {
  const forms = formsOf(schema);
  const block = forms.find(({ properties }) => properties !== undefined);
  if (block?.properties !== undefined) {
    const fields = Object.entries(block.properties);
    const known = new Set(fields.map(([key]) => key));
    // A channel with several accounts has another form than one with a single account.
    const fits = isBlock(written) && Object.keys(written).every((key) => known.has(key));
    const isOnly = forms.every((form) => form.properties !== undefined);
    return isOnly && (written === undefined || written === null || fits)
      ? { kind: 'block', fields }
      : { kind: 'file' };
  }
  if (isBlock(written) || forms.some((form) => hasType(form, 'object'))) return { kind: 'file' };
  if (typeof written === 'string' && LONG_REFERENCE.test(written)) {
    return { kind: 'text', numbers: false, isSecret: false };
  }
  return simpleField(name, forms);
}

function simpleField(name: string, forms: readonly Schema[]): Field {
  const [first] = forms;
  if (forms.length === 1 && first !== undefined) {
    if (first.enum !== undefined) return { kind: 'choice', options: first.enum.map(String) };
    if (hasType(first, 'boolean')) return { kind: 'switch' };
    if (hasType(first, 'array')) {
      const items = formsOf(first.items ?? {});
      if (items.some((item) => hasType(item, 'object'))) return { kind: 'file' };
      return { kind: 'list', numbers: items.every(isNumeric) };
    }
  }
  if (forms.some((form) => hasType(form, 'array'))) return { kind: 'file' };
  const words = forms.flatMap(({ const: word, enum: some = [] }) =>
    word === undefined ? some : [word],
  );
  if (words.length > 0 && words.length === forms.length) {
    return { kind: 'choice', options: words.map(String) };
  }
  return { kind: 'text', numbers: forms.some(isNumeric), isSecret: SECRET.test(name) };
}

/** What may stand there, besides a reference. */
function formsOf(schema: Schema): readonly Schema[] {
  const forms = schema.anyOf ?? schema.oneOf;
  if (forms === undefined) return [schema];
  return forms.filter(({ pattern }) => pattern !== REFERENCE).flatMap(formsOf);
}

function isNumeric(schema: Schema): boolean {
  return hasType(schema, 'integer') || hasType(schema, 'number');
}

function hasType({ type }: Schema, name: string): boolean {
  return typeof type === 'string' ? type === name : (type?.includes(name) ?? false);
}

function isBlock(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What a person has typed as a value of the settings; undefined: the default is to count. */
export function readTyped(field: Field, typed: string): unknown {
  if (typed.trim() === '') return undefined;
  switch (field.kind) {
    case 'switch':
      return typed === 'true';
    case 'list': {
      const entries = typed
        .split('\n')
        .map((line) => line.trim())
        .filter((line) => line !== '');
      return entries.map((entry) => (field.numbers ? numberOr(entry) : entry));
    }
    case 'text':
      return field.numbers ? numberOr(typed.trim()) : typed;
    default:
      return typed;
  }
}

/** A word or a reference stays what it is. */
function numberOr(typed: string): string | number {
  return /^-?\d+(\.\d+)?$/.test(typed) && Number.isFinite(Number(typed)) ? Number(typed) : typed;
}

/** A value of the settings as it stands in a field. */
export function writeTyped(value: unknown): string {
  if (value === undefined || value === null) return '';
  return Array.isArray(value) ? value.map(String).join('\n') : String(value);
}

/** The value at a path; undefined where there is none. */
export function valueAt(values: unknown, path: readonly string[]): unknown {
  let value = values;
  for (const key of path) value = isBlock(value) ? value[key] : undefined;
  return value;
}
