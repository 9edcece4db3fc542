import type { z } from 'zod';

/**
 * Zod's issues as phrases that finish "expected: …". Given to `safeParse` as its error map, so that a
 * schema's own words (`z.string({ error: 'a token from @BotFather' })`) always win.
 */
export function expectation(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return KINDS[issue.expected] ?? `a value of type ${issue.expected}`;
    case 'invalid_value':
      return oneOf(issue.values.map(String));
    case 'too_small':
      return bound(
        issue.origin,
        issue.inclusive === false ? 'more than' : 'at least',
        issue.minimum,
      );
    case 'too_big':
      return bound(
        issue.origin,
        issue.inclusive === false ? 'less than' : 'at most',
        issue.maximum,
      );
    case 'invalid_format':
      return format(issue.format, issue.pattern);
    case 'not_multiple_of':
      return `a multiple of ${issue.divisor}`;
    case 'unrecognized_keys':
      return 'a known key';
    case 'invalid_union':
      return issue.inclusive === false
        ? 'a value of exactly one kind'
        : 'one of several kinds of value';
    default:
      return 'another value';
  }
}

const KINDS: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a block of `key: value` lines',
  record: 'a block of `key: value` lines',
};

/** `one of a, b, c`, or just `a`. */
export function oneOf(values: readonly string[]): string {
  return values.length === 1 ? `${values[0]}` : `one of ${values.join(', ')}`;
}

function bound(origin: string, relation: string, limit: number | bigint): string {
  if (origin === 'string') {
    if (relation === 'at least' && Number(limit) === 1) return 'text that is not empty';
    return `${relation} ${limit} characters`;
  }
  if (origin === 'array' || origin === 'set') return `${relation} ${limit} entries`;
  if (origin === 'int' || origin === 'number') return `a number of ${relation} ${limit}`;
  return `${relation} ${limit}`;
}

function format(name: string, pattern: string | undefined): string {
  if (name === 'url') return pattern === undefined ? 'a URL' : `a URL of the kind ${pattern}`;
  if (name === 'regex' && pattern !== undefined) return `text that matches ${pattern}`;
  return `a valid ${name}`;
}
