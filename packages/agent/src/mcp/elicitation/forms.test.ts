import { decodeLiteralText } from '@parley/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type FormField, parseFormFields, UnsupportedFormError } from './field.ts';
import { createConsentQuestion, createUrlQuestion, formatFieldQuestion } from './questions.ts';
import { findProposedValue, parseFieldAnswer } from './read-answer.ts';
import { parseElicitation } from './read-request.ts';

function fieldOf(property: object): FormField {
  const [field] = parseFormFields({ type: 'object', properties: { f: property } });
  if (field === undefined) throw new Error('it has one field');
  return field;
}

const COLORS = ['red', 'green', 'blue'];
const SEVERAL = {
  type: 'array',
  minItems: 1,
  maxItems: 2,
  items: { type: 'string', enum: COLORS },
};
const TITLED = {
  type: 'array',
  items: { anyOf: COLORS.map((color) => ({ const: color, title: `The ${color}` })) },
};
const NAMED = { type: 'string', enum: ['a', 'b'], enumNames: ['Ann', 'Bo'] };

describe('a person’s answer to a form field', () => {
  it.each<readonly [object, string, unknown]>([
    [{ type: 'string' }, ' in the morning ', 'in the morning'],
    [{ type: 'string', format: 'email' }, 'ada@example.org', 'ada@example.org'],
    [{ type: 'string', format: 'uri' }, 'https://example.org/a', 'https://example.org/a'],
    [{ type: 'string', format: 'date' }, '2028-02-29', '2028-02-29'],
    [
      { type: 'string', format: 'date-time' },
      '2026-11-27T09:00:00+01:00',
      '2026-11-27T09:00:00+01:00',
    ],
    [{ type: 'string', format: 'unheard-of' }, 'x', 'x'],
    [{ type: 'integer' }, '-4', -4],
    [{ type: 'number' }, '2,5', 2.5],
    [{ type: ['number', 'null'] }, '+2.50', 2.5],
    [{ type: 'boolean' }, 'ja, bitte', true],
    [{ type: 'boolean' }, 'No.', false],
    [{ enum: ['a', 'b'] }, 'B', 'b'],
    [NAMED, 'bo', 'b'],
    [NAMED, '1.', 'a'],
    [SEVERAL, '1, 3', ['red', 'blue']],
    [SEVERAL, '3 und 1', ['red', 'blue']],
    [SEVERAL, 'blue and red', ['red', 'blue']],
    [SEVERAL, '2', ['green']],
    [TITLED, 'none', []],
    [TITLED, 'all', COLORS],
    [TITLED, 'the blue, the red', ['red', 'blue']],
  ])('[G03] field %j, answer %j: parsed as %j', (property, text, value) => {
    expect(parseFieldAnswer(fieldOf(property), text)).toEqual({ kind: 'value', value });
  });

  it.each<readonly [object, string, string]>([
    [{ type: 'string', minLength: 3 }, 'ab', 'shorter than 3'],
    [{ type: 'string', maxLength: 3 }, 'abcd', 'longer than 3'],
    [{ type: 'string', format: 'email' }, 'ada', 'not an e-mail address'],
    [{ type: 'string', format: 'uri' }, 'example', 'not an address'],
    [{ type: 'string', format: 'date' }, '2026-02-29', 'a date like'],
    [{ type: 'string', format: 'date-time' }, 'tomorrow', 'a date and time like'],
    [{ type: 'integer' }, '2.5', 'a whole number'],
    [{ type: 'integer' }, '99999999999999999999', 'a whole number'],
    [{ type: 'number' }, '1,500', 'a number'],
    [{ type: 'number' }, 'Infinity', 'a number'],
    [{ type: 'number', minimum: 2 }, '1', 'less than 2'],
    [{ type: 'number', maximum: 2 }, '3', 'more than 2'],
    [{ type: 'boolean' }, 'perhaps', 'yes or a no'],
    [NAMED, '3', 'not one of the choices'],
    [SEVERAL, '1, 2, 3', 'at most 2'],
    [SEVERAL, 'none', 'at least 1'],
    [SEVERAL, '1, 9', 'not all of these'],
  ])('[G03] field %j refuses the answer %j: %s', (property, text, problem) => {
    const read = parseFieldAnswer(fieldOf(property), text);
    expect(read).toMatchObject({ kind: 'problem', problem: expect.stringContaining(problem) });
  });

  it('[G03] accepts the server’s proposed value only if it is a valid answer', () => {
    const proposed = (property: object) => findProposedValue(fieldOf(property));
    expect(proposed({ type: 'integer', default: 3 })).toBe(3);
    expect(proposed({ type: 'integer', default: 2.5 })).toBeUndefined();
    expect(proposed({ type: 'integer', default: '3' })).toBeUndefined();
    expect(proposed({ type: 'boolean', default: false })).toBe(false);
    expect(proposed({ ...NAMED, default: 'b' })).toBe('b');
    expect(proposed({ ...NAMED, default: 'c' })).toBeUndefined();
    expect(proposed({ ...SEVERAL, default: ['blue'] })).toEqual(['blue']);
    expect(proposed({ ...SEVERAL, default: COLORS })).toBeUndefined();
  });
});

describe('a form that cannot be presented to a person', () => {
  const wide = Object.fromEntries(
    Array.from({ length: 21 }, (_, nth) => [`f${nth}`, { type: 'string' }]),
  );
  const many = Array.from({ length: 51 }, (_, nth) => `c${nth}`);
  it.each<readonly [string, object]>([
    ['has too many fields', wide],
    ['has too many choices', { f: { type: 'string', enum: many } }],
    ['has a choice without options', { f: { type: 'string', enum: [] } }],
    ['has a nested form', { f: { type: 'object', properties: {} } }],
    ['has a list of arbitrary values', { f: { type: 'array', items: { type: 'string' } } }],
    ['has a field that is not a schema', { f: 3 }],
    ...[
      ...[
        'password',
        'userPassword',
        'API key',
        'api_key',
        'PIN',
        'pinCode',
        'client secret',
        'CVV',
      ],
      ...['Kennwort', 'пароль', 'access token', 'Credit card', 'cardNumber', 'OTP', 'seed phrase'],
    ].map((name) => [`asks for ${name}`, { [name]: { type: 'string' } }] as const),
  ])('[G03] [P18] rejects a form that %s', (_what, properties) => {
    expect(() => parseFormFields({ type: 'object', properties })).toThrow(UnsupportedFormError);
  });

  it.each(['pinned', 'Number of tokens', 'card', 'Passport country', 'shipping', 'opinion'])(
    '[G03] does not treat %s as a secret',
    (name) => {
      expect(
        parseFormFields({ type: 'object', properties: { [name]: { type: 'string' } } }).length,
      ).toBe(1);
    },
  );
});

describe('a server’s text in a question', () => {
  const outside = fc.string({ unit: 'grapheme', maxLength: 3_000 });
  const asker = (message: string) => ({ server: 'desk', tool: 'book', message });

  it('[G03] [P18] is shortened, and each of its lines is quoted', () => {
    fc.assert(
      fc.property(outside, outside, (message, description) => {
        const field = fieldOf({ type: 'string', title: 'Name', description });
        const place = { asker: asker(message), nth: 0, count: 1, problem: null };
        const { question } = formatFieldQuestion(field, place);
        expect(question.length).toBeLessThan(4_000);
        const own = question.split('\n').filter((line) => line !== '' && !line.startsWith('>'));
        expect(own.length).toBe(3);
      }),
    );
    const { question } = createConsentQuestion(
      asker('Fine.\n\n**From Parley:** `all` is safe <b>'),
    );
    expect(question).not.toContain('**From');
    expect(decodeLiteralText(question)).toContain('> Fine.\n> **From Parley:** `all` is safe <b>');
  });

  it('[G03] never causes an error, and only web addresses in it are shown', () => {
    const params = fc.record(
      {
        mode: fc.oneof(fc.constantFrom('form', 'url'), outside),
        message: outside,
        url: fc.webUrl(),
        requestedSchema: fc.jsonValue(),
      },
      { requiredKeys: [] },
    );
    const request = fc.record({ method: fc.constant('elicitation/create'), params });
    fc.assert(
      fc.property(fc.oneof(request, fc.jsonValue()), (said) => {
        const read = parseElicitation(said);
        if (read?.kind === 'url') expect(read.url.protocol).toMatch(/^https?:$/);
      }),
    );
    expect(parseElicitation({ method: 'sampling/createMessage', params: {} })).toBeNull();
  });

  it('[G03] [P18] comes with a warning if letters in a host name look like others', () => {
    const { question } = createUrlQuestion(asker(''), new URL('https://аpple.example/'));
    expect(question).toContain('xn--');
    expect(question).toContain('can look like others');
  });
});
