import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TextField, ValueField } from './fields.ts';
import { formatTypedValue, parseTypedValue } from './typed.ts';

const REFERENCE = `\${NAME}`;
const TEXT: TextField = {
  kind: 'text',
  numbers: false,
  flags: false,
  isSecret: false,
  isLong: false,
};
const NUMBER: TextField = { ...TEXT, numbers: true };
const FLAG: TextField = { ...TEXT, flags: true };
const LIST: ValueField = { kind: 'list', numbers: false };
const NUMBERS: ValueField = { kind: 'list', numbers: true };

describe('a setting typed as text', () => {
  it.each<[ValueField, string, unknown]>([
    [{ kind: 'switch' }, 'false', false],
    [{ kind: 'switch' }, REFERENCE, REFERENCE],
    [NUMBER, ' 12 ', 12],
    [NUMBER, '1.0', 1],
    [NUMBER, REFERENCE, REFERENCE],
    [NUMBER, 'forever', 'forever'],
    [NUMBER, '"12"', '12'],
    [NUMBER, '1234567890123456789', '1234567890123456789'],
    [TEXT, '42', '42'],
    [TEXT, ' ', undefined],
    [TEXT, '""', ''],
    [TEXT, '"a" or "b"', '"a" or "b"'],
    [FLAG, 'true', true],
    [FLAG, 'gpt-5', 'gpt-5'],
    [LIST, 'telegram:1\n\n discord:2 ', ['telegram:1', 'discord:2']],
    [LIST, '[]', []],
    [NUMBERS, '80\n443', [80, 443]],
    [{ kind: 'json' }, '{"a":1}', { a: 1 }],
    [{ kind: 'json' }, 'words', 'words'],
  ])('[D12] parses, in %j, the text %j as %j', (field, typed, value) => {
    expect(parseTypedValue(field, typed)).toEqual(value);
    if (value !== undefined)
      expect(parseTypedValue(field, formatTypedValue(field, value))).toEqual(value);
  });

  const odd = fc.constantFrom(
    '',
    ' ',
    '5',
    'true',
    '"',
    '""',
    '"a"',
    '[]',
    'a\nb',
    ' a',
    '-0',
    '1.50',
  );

  it('[D12] parses a formatted value back to the same value', () => {
    const text = fc.oneof(fc.string({ unit: 'grapheme' }), odd);
    const finite = fc
      .double({ noNaN: true, noDefaultInfinity: true })
      .filter((one) => !Object.is(one, -0));
    const cases = fc.oneof(
      fc.tuple(fc.constant<ValueField>(TEXT), text),
      fc.tuple(fc.constant<ValueField>(NUMBER), fc.oneof(text, finite)),
      fc.tuple(fc.constant<ValueField>(FLAG), fc.oneof(text, fc.boolean())),
      fc.tuple(fc.constant<ValueField>({ kind: 'switch' }), fc.boolean()),
      fc.tuple(fc.constant(LIST), fc.array(text)),
      fc.tuple(fc.constant(NUMBERS), fc.array(fc.oneof(text, fc.integer()))),
      fc.tuple(
        fc.constant<ValueField>({ kind: 'json' }),
        fc.oneof(text, fc.dictionary(text, text, { noNullPrototype: true }), fc.array(finite)),
      ),
    );
    fc.assert(
      fc.property(cases, ([field, value]) => {
        expect(parseTypedValue(field, formatTypedValue(field, value))).toEqual(value);
      }),
    );
  });
});
