import type { z } from 'zod';
import { nearest } from './nearest.ts';
import {
  formatPath,
  problemOf,
  type SettingsPath,
  type SettingsProblem,
  type SettingsSource,
  valueAt,
} from './source.ts';

/** The outcome of checking one section: a value with warnings, or what is wrong with it. */
export type Checked<T> =
  | {
      readonly kind: 'ok';
      readonly value: T;
      /** The input without its unknown keys, before defaults were filled in. */
      readonly cleaned: unknown;
      readonly warnings: readonly SettingsProblem[];
    }
  | {
      readonly kind: 'bad';
      readonly problems: readonly SettingsProblem[];
      readonly warnings: readonly SettingsProblem[];
    };

/** Each round removes unknown keys one level deeper; real settings need one or two. */
const MOST_ROUNDS = 10;

/**
 * Checks `input`, which stands at `at`, against a strict schema. Unknown keys are taken out and warned
 * of; text from the environment is read as a number or a truth value where one is expected.
 */
export function check<T>(
  schema: z.ZodType<T>,
  input: unknown,
  at: SettingsPath,
  source: SettingsSource,
): Checked<T> {
  const value: unknown = structuredClone(input);
  const warnings: SettingsProblem[] = [];
  for (let round = 1; ; round++) {
    const result = schema.safeParse(value, { error: expectation });
    if (result.success) return { kind: 'ok', value: result.data, cleaned: value, warnings };
    const leaves = leafIssues(result.error.issues, at);
    const removed = leaves.flatMap((leaf) => removeUnknownKeys(leaf, value, at, source));
    warnings.push(...removed);
    const reread = leaves.filter((leaf) => readText(leaf, value, at, source));
    if ((removed.length === 0 && reread.length === 0) || round === MOST_ROUNDS) {
      return {
        kind: 'bad',
        problems: leaves.map((leaf) => problem(leaf, value, at, source)),
        warnings,
      };
    }
  }
}

function removeUnknownKeys(
  { issue, path }: LeafIssue,
  root: unknown,
  at: SettingsPath,
  source: SettingsSource,
): SettingsProblem[] {
  if (issue.code !== 'unrecognized_keys') return [];
  const container = valueAt(root, path.slice(at.length));
  if (typeof container !== 'object' || container === null) return [];
  return issue.keys.flatMap((key) => {
    if (!Reflect.deleteProperty(container, key)) return [];
    return [unknownKey([...path, key], source)];
  });
}

/** The warning for a key that nobody reads. */
export function unknownKey(path: SettingsPath, source: SettingsSource): SettingsProblem {
  const { keys } = source.allowedAt(path.slice(0, -1));
  const written = String(path.at(-1));
  return problemOf(
    {
      kind: 'unknown-key',
      path,
      expected: keys.length === 0 ? 'no keys here' : oneOf(keys),
      nearest: nearest(written, keys),
    },
    source,
  );
}

/** The environment holds only text: `PORT=8080` is a number where a number is expected. */
function readText(
  { issue, path }: LeafIssue,
  root: unknown,
  at: SettingsPath,
  source: SettingsSource,
): boolean {
  if (issue.code !== 'invalid_type' || !source.outside.has(formatPath(path))) return false;
  const key = path.at(-1);
  const container = valueAt(root, path.slice(at.length, -1));
  if (key === undefined || typeof container !== 'object' || container === null) return false;
  const text = String(Reflect.get(container, key)).trim();
  const isNumber = issue.expected === 'number' || issue.expected === 'int';
  if (isNumber && /^-?\d+(\.\d+)?$/.test(text)) return Reflect.set(container, key, Number(text));
  if (issue.expected === 'boolean' && /^(true|false)$/i.test(text)) {
    return Reflect.set(container, key, text.toLowerCase() === 'true');
  }
  return false;
}

function problem(
  { issue, path, expected }: LeafIssue,
  root: unknown,
  at: SettingsPath,
  source: SettingsSource,
): SettingsProblem {
  const value = valueAt(root, path.slice(at.length));
  const { values } = source.allowedAt(path);
  const choice = issue.code === 'invalid_union' && issue.errors.length === 0 && values.length > 0;
  return problemOf(
    {
      kind: value === undefined ? 'missing' : 'value',
      path,
      expected: choice ? oneOf(values) : expected,
      nearest: typeof value === 'string' ? nearest(value, values) : undefined,
    },
    source,
  );
}

type Issue = z.core.$ZodIssue;

/** One thing wrong at one place: a zod issue with its full path and no alternatives left inside. */
interface LeafIssue {
  readonly path: SettingsPath;
  readonly issue: Issue;
  /** What is expected, over all alternatives that failed at this very place. */
  readonly expected: string;
}

/**
 * Flattens issues. Where a value may be of several kinds, only the kind it resembles most is
 * explained: nobody wants to read why their object is not the word `auto`.
 */
function leafIssues(issues: readonly Issue[], at: SettingsPath): LeafIssue[] {
  return issues.flatMap((issue) => {
    const path = [
      ...at,
      ...issue.path.map((step) => (typeof step === 'symbol' ? String(step) : step)),
    ];
    if (issue.code !== 'invalid_union' || issue.errors.length === 0) {
      return [{ path, issue, expected: issue.message }];
    }
    const near = issue.errors.filter((branch) => !branch.some(isAtRoot));
    const best = near.toSorted((a, b) => weight(a) - weight(b))[0];
    if (best !== undefined) return leafIssues(best, path);
    const expected = new Set(
      issue.errors.flatMap((branch) => leafIssues(branch, path)).map((leaf) => leaf.expected),
    );
    return [{ path, issue, expected: [...expected].join(', or ') }];
  });
}

function isAtRoot(issue: Issue): boolean {
  return issue.path.length === 0 && issue.code !== 'unrecognized_keys';
}

/** A wrong `kind: …` makes a branch less likely than a wrong detail does, a spare key hardly at all. */
function weight(branch: readonly Issue[]): number {
  const weights = { invalid_value: 10, unrecognized_keys: 1 } as Readonly<Record<string, number>>;
  return branch.reduce((sum, issue) => sum + (weights[issue.code] ?? 3), 0);
}

/**
 * Zod's issues as phrases that finish "expected: …". Given to `safeParse` as its error map, so that a
 * schema's own words (`z.string({ error: 'a token from @BotFather' })`) always win.
 */
function expectation(issue: z.core.$ZodRawIssue): string {
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
