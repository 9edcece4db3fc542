import { describe, expect, it } from 'vitest';
import { checkJsonAnswer, ResponseFormat } from './answer-check.ts';

const wrongIn = (answer: string, format: object) => {
  const checked = checkJsonAnswer(answer, ResponseFormat.parse(format));
  return 'wrong' in checked ? checked.wrong : null;
};

describe('a response format', () => {
  it.each([
    ['no schema at all', 'text', 'json, or a JSON Schema'],
    ['a list', [], 'json, or a JSON Schema'],
    ['what cannot be checked', { if: {}, else: {} }, 'Conditional schemas'],
    ['a type that does not exist', { type: 'strng' }, 'Unsupported type'],
    ['a schema elsewhere', { $ref: 'https://example.org/a.json' }, 'neither # nor'],
    ['a broken pattern', { type: 'string', pattern: '(' }, 'regular expression'],
    ['one that is too large', { description: 'x'.repeat(32_000) }, 'at most 32,000 characters'],
    ['one that is too deep', nested(80), 'more than 64 deep'],
  ])('[P04] is refused with the reason when it is %s', (_, format, why) => {
    const { success, error } = ResponseFormat.safeParse(format);
    expect(success).toBe(false);
    expect(JSON.stringify(error?.issues)).toContain(why);
  });

  const COPIES = { properties: { copies: { type: 'integer', default: 3 } }, required: ['copies'] };
  it.each([
    ['without a type', COPIES, '{"copies":"x"}', 'copies: Invalid input'],
    ['not even an object', COPIES, '"x"', 'expected object'],
    ['a missing property with a default', COPIES, '{}', 'copies: Invalid input'],
    ['in a list without a type', { items: COPIES }, '[{"copies":1},{}]', '1.copies: Invalid'],
    ['in a definition', { $ref: '#/$defs/a', $defs: { a: COPIES } }, '{}', 'copies: Invalid'],
    ['in a choice', { anyOf: [COPIES, { type: 'null' }] }, '{}', 'the whole: Invalid input'],
    [
      'a property called properties',
      { properties: { properties: COPIES } },
      '{"properties":1}',
      'properties: ',
    ],
  ])('[P04] enforces every keyword of a schema: %s', (_, schema, answer, why) => {
    expect(wrongIn(answer, schema)).toContain(why);
  });

  it('[P04] passes a matching answer unchanged', () => {
    const answer = '{ "copies": 1.0, "more": [true] }';
    expect(checkJsonAnswer(`\n${answer}\n`, COPIES)).toEqual({ json: answer });
    expect(checkJsonAnswer('null', { anyOf: [COPIES, { type: 'null' }] })).toEqual({
      json: 'null',
    });
  });

  it('[P04] reports at most ten errors', () => {
    const list = JSON.stringify(Array.from({ length: 50 }, () => 'x'));
    expect(wrongIn(list, { items: { type: 'number' } })?.split('; ')).toHaveLength(10);
  });
});

function nested(depth: number): object {
  return depth === 0 ? {} : { type: 'object', properties: { a: nested(depth - 1) } };
}
