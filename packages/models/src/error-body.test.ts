import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readErrorBody, readErrorValue } from './error-body.ts';
import { classifyFailure, collectCallFailureDetails } from './failures.ts';

const SENTENCE = 'prompt is too long: 9000 tokens > 8192 maximum';

/** The fields in which servers put the error message. */
const SHAPES: Readonly<Record<string, (message: string) => unknown>> = {
  'as plain text': (message) => message,
  'in message': (message) => ({ message }),
  'in msg': (message) => ({ msg: message }),
  'in detail': (detail) => ({ detail }),
  'in a list of details': (msg) => ({ detail: [{ loc: ['body'], msg, type: 'value_error' }] }),
  'as error': (error) => ({ error }),
  'in error.message': (message) => ({ error: { message } }),
  'in a list of errors': (message) => [{ error: { message } }],
  'in error.error': (message) => ({ error: { error: { message } } }),
  'in errors': (message) => ({ errors: [{ message, code: 5021 }] }),
  'in metadata.raw': (message) => ({
    error: {
      message: 'Provider returned error',
      metadata: { raw: JSON.stringify({ error: { message } }) },
    },
  }),
  'as JSON within text': (message) => ({ detail: JSON.stringify({ error: { message } }) }),
  'in base_resp': (status_msg) => ({ base_resp: { status_code: 2013, status_msg } }),
  'in Response.Error': (Message) => ({ Response: { Error: { Code: 'X', Message } } }),
};

describe('an error body', () => {
  it.each(Object.entries(SHAPES))('[G21] is parsed if its message appears %s', (_name, shape) => {
    const value = shape(SENTENCE);
    const body = typeof value === 'string' ? value : JSON.stringify(value);
    expect(readErrorBody(body).messages).toContain(SENTENCE);
    expect(readErrorValue(value).messages).toContain(SENTENCE);
    const thrown = { name: 'AI_APICallError', message: 'Bad', statusCode: 400, responseBody: body };
    expect(classifyFailure(collectCallFailureDetails(thrown), 0)).toMatchObject({
      kind: 'too-long',
      windowTokens: 8_192,
    });
  });

  it('[G21] is parsed with any additional content, and the parser never throws', () => {
    const key = fc.constantFrom(
      'error',
      'message',
      'detail',
      'errors',
      'code',
      'metadata',
      'raw',
      'x',
      'type',
    );
    const value = fc.letrec((tie) => ({
      any: fc.oneof(
        { maxDepth: 6 },
        fc.string(),
        fc.double(),
        fc.constant(null),
        fc.boolean(),
        tie('list'),
        tie('object'),
      ),
      list: fc.array(tie('any'), { maxLength: 4 }),
      object: fc.dictionary(key, tie('any'), { maxKeys: 5 }),
    })).any;
    fc.assert(
      fc.property(
        value,
        fc.integer({ min: 200, max: 599 }),
        fc.boolean(),
        (any, status, isValue) => {
          const responseBody = JSON.stringify(any) ?? '';
          const thrown = isValue
            ? any
            : { name: 'E', message: '', statusCode: status, responseBody };
          return typeof classifyFailure(collectCallFailureDetails(thrown), 0).kind === 'string';
        },
      ),
    );
  });

  it('[G21] is parsed quickly even if it is long and repetitive', () => {
    const seeds = [
      'context length ',
      'exceeds ',
      '1,',
      'tokens ',
      'max_tokens ',
      '<html ',
      '{"error":',
      'try again in 1s ',
      'input ',
    ];
    // Without a limit, or with a backtracking pattern, parsing would take minutes.
    for (const seed of seeds) {
      const responseBody = seed.repeat(200_000 / seed.length);
      const thrown = { name: 'E', message: '', statusCode: 400, responseBody };
      expect(classifyFailure(collectCallFailureDetails(thrown), 0).kind).toBeDefined();
      classifyFailure(
        collectCallFailureDetails({
          ...thrown,
          responseBody: JSON.stringify({ error: responseBody }),
        }),
        0,
      );
    }
  });
});
