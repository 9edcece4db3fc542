import { parseYesOrNo } from '@parley/core';
import { z } from 'zod';
import type { FieldOption, FieldValue, FormField } from './field.ts';

/** The parsed value of a person's answer, or what is wrong with the answer. */
export type FieldAnswer =
  | { readonly kind: 'value'; readonly value: FieldValue }
  | { readonly kind: 'problem'; readonly problem: string };

const value = (of: FieldValue): FieldAnswer => ({ kind: 'value', value: of });
const answerProblem = (text: string): FieldAnswer => ({ kind: 'problem', problem: text });

/** Parses a person's answer to a field. */
export function parseFieldAnswer(field: FormField, said: string): FieldAnswer {
  const text = said.trim();
  switch (field.kind) {
    case 'text':
      return parseTextAnswer(field, text);
    case 'number':
      return parseNumberAnswer(field, text);
    case 'yes-no': {
      const meaning = parseYesOrNo(text);
      if (meaning === 'yes' || meaning === 'no') return value(meaning === 'yes');
      return answerProblem('I need a yes or a no');
    }
    case 'one': {
      const found = findOption(field.options, text);
      return found === undefined
        ? answerProblem('this is not one of the choices')
        : value(found.value);
    }
    case 'several':
      return parseMultiSelectAnswer(field, text);
  }
}

/** The server's proposed value, if it is a valid answer. */
export function findProposedValue(field: FormField): FieldValue | undefined {
  const { proposed } = field;
  if (proposed === undefined) return undefined;
  switch (field.kind) {
    case 'yes-no':
      return typeof proposed === 'boolean' ? proposed : undefined;
    case 'one':
      return field.options.find((option) => option.value === proposed)?.value;
    case 'several': {
      if (!Array.isArray(proposed)) return undefined;
      const chosen = field.options.filter((option) => proposed.includes(option.value));
      return isCountAllowed(field, chosen.length)
        ? chosen.map((option) => option.value)
        : undefined;
    }
    case 'text':
    case 'number': {
      const isOfKind = typeof proposed === (field.kind === 'text' ? 'string' : 'number');
      const read = isOfKind ? parseFieldAnswer(field, String(proposed)) : null;
      return read?.kind === 'value' ? read.value : undefined;
    }
  }
}

type FieldOfKind<Kind extends FormField['kind']> = Extract<FormField, { kind: Kind }>;

const FORMATS = {
  email: { schema: z.email(), problem: 'that is not an e-mail address' },
  uri: { schema: z.url(), problem: 'that is not an address; an address begins like https://' },
  date: { schema: z.iso.date(), problem: 'I need a date like 2026-11-27' },
  'date-time': {
    schema: z.iso.datetime({ offset: true }),
    problem: 'I need a date and time like 2026-11-27T09:00:00+01:00',
  },
} as const;

function parseTextAnswer({ least, most, format }: FieldOfKind<'text'>, text: string): FieldAnswer {
  const { length } = [...text];
  if (length < least) return answerProblem(`that is shorter than ${least} characters`);
  if (length > most) return answerProblem(`that is longer than ${most} characters`);
  if (format !== undefined && !FORMATS[format].schema.safeParse(text).success)
    return answerProblem(FORMATS[format].problem);
  return value(text);
}

/**
 * Matches only unambiguous numbers: `1,500` is one and a half for some people and fifteen hundred
 * for others.
 */
const NUMBER = /^[+-]?\d+(?:\.\d+|,(?!\d{3}$)\d+)?$/;

function parseNumberAnswer(
  { isWhole, least, most }: FieldOfKind<'number'>,
  text: string,
): FieldAnswer {
  const number = NUMBER.test(text) ? Number(text.replace(',', '.')) : Number.NaN;
  if (!Number.isFinite(number)) return answerProblem('I need a number, in digits only');
  if (isWhole && !Number.isSafeInteger(number)) return answerProblem('I need a whole number');
  if (number < least) return answerProblem(`that is less than ${least}`);
  if (number > most) return answerProblem(`that is more than ${most}`);
  return value(number);
}

function parseMultiSelectAnswer(field: FieldOfKind<'several'>, text: string): FieldAnswer {
  const chosen = parseFieldOptions(field.options, text);
  if (chosen === null) return answerProblem('not all of these are among the choices');
  if (isCountAllowed(field, chosen.length)) return value(chosen.map((option) => option.value));
  const { least, most } = field;
  return answerProblem(
    chosen.length < least ? `choose at least ${least}` : `choose at most ${most} of them`,
  );
}

function isCountAllowed({ least, most }: FieldOfKind<'several'>, count: number): boolean {
  return count >= least && count <= most;
}

/**
 * Parses `1, 3`, `1 and 3`, names separated by commas, `all` or `none`. The result is in the order
 * of the form.
 */
function parseFieldOptions(
  options: readonly FieldOption[],
  text: string,
): readonly FieldOption[] | null {
  if (/^(?:all|alle|todos|tous|tutti|все)[.!]?$/i.test(text)) return options;
  if (/^(?:none|nothing|keine?s?|ninguno|aucun|nessuno)[.!]?$/i.test(text)) return [];
  const whole = findOption(options, text);
  if (whole !== undefined) return [whole];
  const isNumbers = /^[\d\s,;.+&]*(?:(?:and|und|y|et|e)\s[\d\s,;.+&]*)*$/i.test(text);
  const between = isNumbers ? /[^\d]+/ : /\s*[,;\n]\s*|\s+(?:and|und|y|et|e|&)\s+/i;
  const pieces = text.split(between).filter((piece) => piece !== '');
  const found = pieces.map((piece) => findOption(options, piece));
  if (pieces.length === 0 || found.includes(undefined)) return null;
  return options.filter((option) => found.includes(option));
}

/** Finds an option by its number, label or value. */
function findOption(options: readonly FieldOption[], text: string): FieldOption | undefined {
  const said = text.trim().toLowerCase();
  const same = options.find(({ label, value: own }) =>
    [label, own].some((name) => name.toLowerCase() === said),
  );
  if (same !== undefined) return same;
  const place = /^#?(\d{1,2})[.)]?$/.exec(said)?.[1];
  return place === undefined ? undefined : options[Number(place) - 1];
}
