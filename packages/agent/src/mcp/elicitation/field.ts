import { toDisplayLine } from '@parley/core';
import { z } from 'zod';

/** A choice in a field: the label shown to a person, and the value sent to the server. */
export interface FieldOption {
  readonly label: string;
  readonly value: string;
}

export type FieldKind =
  | {
      readonly kind: 'text';
      readonly format?: 'email' | 'uri' | 'date' | 'date-time' | undefined;
      readonly least: number;
      readonly most: number;
    }
  | {
      readonly kind: 'number';
      readonly isWhole: boolean;
      readonly least: number;
      readonly most: number;
    }
  | { readonly kind: 'yes-no' }
  | { readonly kind: 'one'; readonly options: readonly FieldOption[] }
  | {
      readonly kind: 'several';
      readonly options: readonly FieldOption[];
      readonly least: number;
      readonly most: number;
    };

export type FieldValue = string | number | boolean | readonly string[];

export type FormField = FieldKind & {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly isRequired: boolean;
  /**
   * The server's proposed value. The proposed value is validated like an answer before it is
   * offered.
   */
  readonly proposed?: FieldValue | undefined;
};

/**
 * Thrown for a form that cannot be presented to a person. The message explains the reason to the
 * model.
 */
export class UnsupportedFormError extends Error {}

/** The maximum number of fields in a form; more would be too many for a chat. */
const MAX_FIELDS = 20;
const MAX_OPTIONS = 50;
/**
 * The maximum length of a choice's label, in characters. Together with a distinguishing suffix, a
 * label is as long as a button may be.
 */
const MAX_LABEL = 54;
const MAX_TITLE = 100;
const MAX_DESCRIPTION = 300;
/** The maximum length of an answer to a field that states no limit, in characters. */
const MAX_TEXT = 4_000;

const Labelled = z.object({ const: z.string(), title: z.string().optional() });
const Items = z.object({
  enum: z.array(z.string()).optional(),
  anyOf: z.array(Labelled).optional(),
  oneOf: z.array(Labelled).optional(),
});
const count = z.number().int().nonnegative().optional().catch(undefined);
const bound = z.number().optional().catch(undefined);
const words = z.string().optional().catch(undefined);
const FieldProperty = z.object({
  ...{ type: z.unknown().optional(), title: words, description: words, format: words },
  ...{ minLength: count, maxLength: count, minItems: count, maxItems: count },
  ...{ minimum: bound, maximum: bound },
  enum: z.array(z.string()).optional(),
  enumNames: z.array(z.string()).optional().catch(undefined),
  oneOf: z.array(Labelled).optional(),
  anyOf: z.array(Labelled).optional(),
  items: Items.optional().catch(undefined),
  default: z
    .union([z.string(), z.number(), z.boolean(), z.array(z.string())])
    .optional()
    .catch(undefined),
});
type FieldProperty = z.infer<typeof FieldProperty>;

const Form = z.object({
  properties: z.record(z.string(), z.unknown()).default({}),
  required: z.array(z.string()).default([]).catch([]),
});

/** Parses the fields in a form, in order. Throws UnsupportedFormError. */
export function parseFormFields(schema: unknown): readonly FormField[] {
  const form = Form.safeParse(schema ?? {});
  if (!form.success) throw new UnsupportedFormError('its form does not follow the protocol');
  const named = Object.entries(form.data.properties);
  if (named.length > MAX_FIELDS)
    throw new UnsupportedFormError(
      `its form has ${named.length} fields, but the maximum is ${MAX_FIELDS}`,
    );
  return named.map(([name, property]) => parseFormField(name, property, form.data.required));
}

function parseFormField(name: string, said: unknown, required: readonly string[]): FormField {
  const parsed = FieldProperty.safeParse(said);
  if (!parsed.success) throw createUnknownKindError(name);
  const { title, description, default: proposed } = parsed.data;
  const shown = toShortLine(title ?? name, MAX_TITLE) || toShortLine(name, MAX_TITLE) || 'Answer';
  if (isSecretRequest(`${name} ${shown} ${parsed.data.format ?? ''}`)) {
    throw new UnsupportedFormError(
      `it asks for ${JSON.stringify(shown)} in a form, and a server must never ask for secrets in a form`,
    );
  }
  return {
    ...parseFieldKind(name, parsed.data),
    ...{ name, title: shown, description: toShortLine(description ?? '', MAX_DESCRIPTION) },
    ...{ isRequired: required.includes(name), proposed },
  };
}

function parseFieldKind(name: string, property: FieldProperty): FieldKind {
  const options = listOptions(property);
  if (options !== null) return { kind: 'one', options: checkOptions(name, options) };
  const { type, minimum, maximum } = property;
  const types: readonly unknown[] = Array.isArray(type) ? type : [type];
  switch (types.find((one) => one !== 'null')) {
    case 'boolean':
      return { kind: 'yes-no' };
    case 'integer':
    case 'number': {
      const isWhole = types.includes('integer');
      const [least, most] = [minimum ?? Number.NEGATIVE_INFINITY, maximum ?? Number.MAX_VALUE];
      return { kind: 'number', isWhole, least, most };
    }
    case 'string': {
      const { minLength: least = 0, maxLength = MAX_TEXT } = property;
      const most = Math.min(maxLength, MAX_TEXT);
      return { kind: 'text', format: Format.safeParse(property.format).data, least, most };
    }
    case 'array': {
      const all = checkOptions(name, listOptions(property.items ?? {}) ?? []);
      const { minItems: least = 0, maxItems: most = all.length } = property;
      return { kind: 'several', options: all, least, most };
    }
    default:
      throw createUnknownKindError(name);
  }
}

const Format = z.enum(['email', 'uri', 'date', 'date-time']);

function createUnknownKindError(name: string): UnsupportedFormError {
  const shown = JSON.stringify(toShortLine(name, MAX_TITLE));
  return new UnsupportedFormError(`the form's field ${shown} has an unknown type`);
}

type PropertyWithOptions = Pick<FieldProperty, 'enum' | 'oneOf' | 'anyOf'> & {
  readonly enumNames?: FieldProperty['enumNames'];
};

/** Null if the field is not a choice. */
function listOptions(property: PropertyWithOptions): readonly FieldOption[] | null {
  const labelled = property.oneOf ?? property.anyOf;
  if (labelled !== undefined)
    return labelled.map(({ const: value, title }) => ({ value, label: title ?? value }));
  const { enum: values, enumNames = [] } = property;
  return values?.map((value, at) => ({ value, label: enumNames[at] ?? value })) ?? null;
}

/** Makes labels unique and short enough for a button. */
function checkOptions(name: string, options: readonly FieldOption[]): readonly FieldOption[] {
  if (options.length === 0) throw createUnknownKindError(name);
  if (options.length > MAX_OPTIONS) {
    throw new UnsupportedFormError(
      `the form's field ${JSON.stringify(toShortLine(name, MAX_TITLE))} has ${options.length} choices, but the maximum is ${MAX_OPTIONS}`,
    );
  }
  const taken = new Set<string>();
  return options.map(({ label, value }, at) => {
    const short = toShortLine(label, MAX_LABEL) || toShortLine(value, MAX_LABEL);
    const key = short.toLowerCase();
    const own = short === '' || taken.has(key) ? `${short} (${at + 1})`.trim() : short;
    taken.add(key);
    return { label: own, value };
  });
}

/** One line of text from a server, without invisible characters. */
export function toShortLine(text: string, most: number): string {
  const line = toDisplayLine(text).replace(/\s+/g, ' ').trim();
  const characters = [...line];
  return characters.length <= most ? line : `${characters.slice(0, most - 1).join('')}…`;
}

const SECRETS =
  /pass[\s_-]?(?:word|phrase|code|wd)|\bpwd\b|secret|\bpin\b|pin[\s_-]?code|(?:api|private|access|secret)[\s_-]?key|(?:access|auth|bearer|refresh|api)[\s_-]?token|credential|\bcv[vc]2?\b|(?:credit|debit|bank)[\s_-]?card|card[\s_-]?number|one[\s_-]?time|\botp\b|seed[\s_-]?phrase|passwor[dt]|kennwort|contraseña|mot de passe|senha|пароль|密码|パスワード|비밀번호/iu;

function isSecretRequest(text: string): boolean {
  return SECRETS.test(text);
}
