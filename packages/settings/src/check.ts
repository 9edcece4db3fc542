import type { z } from 'zod';
import { findRenamedPath } from './settings-steps.ts';
import {
  formatPath,
  getValueAt,
  type SettingsPath,
  type SettingsProblem,
  type SettingsSource,
  toSettingsProblem,
} from './source.ts';

/** The outcome of checking one section: a value with warnings, or its problems. */
export type CheckResult<T> =
  | {
      readonly kind: 'ok';
      readonly value: T;
      /** The input without its unknown keys, before defaults were applied. */
      readonly cleaned: unknown;
      readonly warnings: readonly SettingsProblem[];
    }
  | {
      readonly kind: 'bad';
      readonly problems: readonly SettingsProblem[];
      readonly warnings: readonly SettingsProblem[];
    };

/**
 * The maximum number of rounds of removing unknown keys. Each round goes one level deeper; real
 * settings need one or two.
 */
const MAX_ROUNDS = 10;

/**
 * Validates `input`, which is at the path `at`, against a strict schema. Unknown keys are removed with a
 * warning. Text from the environment is converted to a number or boolean where one is expected.
 */
export function checkValue<T>(
  schema: z.ZodType<T>,
  input: unknown,
  at: SettingsPath,
  source: SettingsSource,
): CheckResult<T> {
  const value: unknown = structuredClone(input);
  const warnings: SettingsProblem[] = [];
  for (let round = 1; ; round++) {
    const result = schema.safeParse(value);
    if (result.success) return { kind: 'ok', value: result.data, cleaned: value, warnings };
    const leaves = flattenIssues(result.error.issues, at);
    const removed = leaves.flatMap((leaf) => removeUnknownKeys(leaf, value, at, source));
    warnings.push(...removed);
    const reread = leaves.filter((leaf) => convertText(leaf, value, at, source));
    if ((removed.length === 0 && reread.length === 0) || round === MAX_ROUNDS) {
      const problems = leaves.map(
        (leaf) => findMisspeltKey(leaf, input, at, source) ?? toProblem(leaf, value, at, source),
      );
      const paths = new Set(problems.map(({ path }) => path));
      return { kind: 'bad', problems, warnings: warnings.filter(({ path }) => !paths.has(path)) };
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
  const container = getValueAt(root, path.slice(at.length));
  if (typeof container !== 'object' || container === null) return [];
  return issue.keys.flatMap((key) => {
    if (!Reflect.deleteProperty(container, key)) return [];
    return [createUnknownKeyProblem([...path, key], source)];
  });
}

/** Creates the warning for an unknown key. */
export function createUnknownKeyProblem(
  path: SettingsPath,
  source: SettingsSource,
): SettingsProblem {
  const { keys } = source.allowedAt(path.slice(0, -1));
  const written = String(path.at(-1));
  return toSettingsProblem(
    {
      kind: 'unknown-key',
      path,
      expected: keys.length === 0 ? 'no keys here' : formatOneOf(keys),
      nearest:
        keys.find((key) => key === findRenamedPath(path)?.at(-1)) ?? findNearestWord(written, keys),
    },
    source,
  );
}

/**
 * Converts text from the environment, where everything is text: `PORT=8080` is a number where a
 * number is expected.
 */
function convertText(
  { issue, path }: LeafIssue,
  root: unknown,
  at: SettingsPath,
  source: SettingsSource,
): boolean {
  if (issue.code !== 'invalid_type' || !source.outside.has(formatPath(path))) return false;
  const key = path.at(-1);
  const container = getValueAt(root, path.slice(at.length, -1));
  if (key === undefined || typeof container !== 'object' || container === null) return false;
  const text = String(Reflect.get(container, key)).trim();
  const isNumber = issue.expected === 'number' || issue.expected === 'int';
  if (isNumber && /^-?\d+(\.\d+)?$/.test(text)) return Reflect.set(container, key, Number(text));
  if (issue.expected === 'boolean' && /^(true|false)$/i.test(text)) {
    return Reflect.set(container, key, text.toLowerCase() === 'true');
  }
  return false;
}

function toProblem(
  { issue, path, expected }: LeafIssue,
  root: unknown,
  at: SettingsPath,
  source: SettingsSource,
): SettingsProblem {
  const value = getValueAt(root, path.slice(at.length));
  const { values } = source.allowedAt(path);
  const choice = issue.code === 'invalid_union' && issue.errors.length === 0 && values.length > 0;
  return toSettingsProblem(
    {
      kind: value === undefined ? 'missing' : 'value',
      path,
      expected: choice ? formatOneOf(values) : expected,
      nearest: typeof value === 'string' ? findNearestWord(value, values) : undefined,
    },
    source,
  );
}

/**
 * Reports an unknown key instead of a missing key if both are at the same level and almost the same
 * word.
 */
function findMisspeltKey(
  { path }: LeafIssue,
  input: unknown,
  at: SettingsPath,
  source: SettingsSource,
): SettingsProblem | undefined {
  const parent = path.slice(0, -1);
  const container =
    path.length > at.length ? getValueAt(input, parent.slice(at.length)) : undefined;
  if (typeof container !== 'object' || container === null) return undefined;
  if (Reflect.has(container, path.at(-1) ?? '')) return undefined;
  const { keys } = source.allowedAt(parent);
  const written = Object.keys(container).find(
    (key) => !keys.includes(key) && findNearestWord(key, keys) === path.at(-1),
  );
  return written === undefined ? undefined : createUnknownKeyProblem([...parent, written], source);
}

type Issue = z.core.$ZodIssue;

/** A single problem at one path: a zod issue with its full path and without nested alternatives. */
interface LeafIssue {
  readonly path: SettingsPath;
  readonly issue: Issue;
  /** The expected value, combined from all alternatives that failed for this path. */
  readonly expected: string;
}

/**
 * Flattens issues. If a value can have several kinds, only the kind that it resembles most is
 * explained; explaining why an object is not the word `auto` would not help.
 */
function flattenIssues(issues: readonly Issue[], at: SettingsPath): LeafIssue[] {
  return issues.flatMap((issue) => {
    const path = [
      ...at,
      ...issue.path.map((step) => (typeof step === 'symbol' ? String(step) : step)),
    ];
    if (issue.code === 'invalid_key') {
      const expected = `another key: ${issue.issues.map(describeExpectedValue).join(', ')}`;
      return [{ path, issue, expected }];
    }
    if (issue.code !== 'invalid_union' || issue.errors.length === 0) {
      return [{ path, issue, expected: describeExpectedValue(issue) }];
    }
    const near = issue.errors.filter((branch) => !branch.some(isAtRoot));
    const best = near.toSorted((a, b) => weighBranch(a) - weighBranch(b))[0];
    if (best !== undefined) return flattenIssues(best, path);
    const expected = new Set(
      issue.errors.flatMap((branch) => flattenIssues(branch, path)).map((leaf) => leaf.expected),
    );
    return [{ path, issue, expected: [...expected].join(', or ') }];
  });
}

function isAtRoot(issue: Issue): boolean {
  return issue.path.length === 0 && issue.code !== 'unrecognized_keys';
}

/**
 * Weighs how unlikely a branch is to be the intended one. A wrong `kind: …` counts more than
 * another wrong value, and an unknown key hardly at all.
 */
function weighBranch(branch: readonly Issue[]): number {
  const weights = { invalid_value: 10, unrecognized_keys: 1 } as Readonly<Record<string, number>>;
  return branch.reduce((sum, issue) => sum + (weights[issue.code] ?? 3), 0);
}

/**
 * Describes the expected value in a phrase that completes both "expected: …" and "SETTING must be
 * …". A schema's own message already is such a phrase. Zod's messages are sentences, so they are
 * converted; the value that was found is shown separately. Third-party channels and plugins may
 * also use sentences as messages.
 */
function describeExpectedValue(issue: Issue): string {
  const { message } = issue;
  const [, kind] = /^Invalid input: expected (\w+), received \w+$/.exec(message) ?? [];
  if (kind !== undefined) return KINDS[kind] ?? kind;
  if (/^Too (?:small|big): /.test(message)) return describeSizeBound(issue);
  if (issue.code === 'invalid_value' && message.startsWith('Invalid option: ')) {
    return formatOneOf(issue.values.map(String));
  }
  return message
    .replace(/^Invalid \w+: must (\w)/, 'text that must $1')
    .replace(/^Invalid \w+: (?:expected )?/, '')
    .replace(/^Invalid /, 'a valid ')
    .replace(/^must be /, '')
    .replace(/^must /, 'a value that must ');
}

/** Describes the limit that a value exceeds. */
function describeSizeBound(issue: Issue): string {
  if (issue.code !== 'too_small' && issue.code !== 'too_big') return issue.message;
  const isSmall = issue.code === 'too_small';
  const bound = isSmall ? issue.minimum : issue.maximum;
  const limit =
    issue.inclusive === false
      ? `${isSmall ? 'more' : 'less'} than ${bound}`
      : `at ${isSmall ? 'least' : 'most'} ${bound}`;
  switch (issue.origin) {
    case 'string':
      return `text of ${limit} ${bound === 1 ? 'character' : 'characters'}`;
    case 'array':
    case 'set':
      return `a list of ${limit} ${bound === 1 ? 'item' : 'items'}`;
    default:
      return `a number of ${limit}`;
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

/** Formats a list as `one of a, b, c`, or just `a`. */
export function formatOneOf(values: readonly string[]): string {
  return values.length === 1 ? `${values[0]}` : `one of ${values.join(', ')}`;
}

/**
 * Finds the candidate that was most likely intended; undefined when none is close. Case, `-` and
 * `_` are ignored, and at most a third of the letters may differ.
 */
export function findNearestWord(written: string, candidates: Iterable<string>): string | undefined {
  const wanted = simplifyWord(written).slice(0, 64);
  const furthest = Math.max(1, Math.floor(wanted.length / 3));
  let best: { candidate: string; distance: number } | undefined;
  for (const candidate of candidates) {
    const distance = computeEditDistance(wanted, simplifyWord(candidate).slice(0, 64));
    if (distance <= furthest && distance < (best?.distance ?? Number.POSITIVE_INFINITY)) {
      best = { candidate, distance };
    }
  }
  return best?.candidate;
}

function simplifyWord(text: string): string {
  return text.toLowerCase().replaceAll(/[-_\s]/g, '');
}

/** Computes the Levenshtein distance, counting two swapped adjacent characters as a single typo. */
function computeEditDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1];
      const swapped =
        row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      current[column] = Math.min(
        getCell(last, column) + 1,
        getCell(current, column - 1) + 1,
        getCell(last, column - 1) + (same ? 0 : 1),
        swapped ? getCell(beforeLast, column - 2) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    beforeLast = last;
    last = current;
  }
  return getCell(last, b.length);
}

function getCell(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}
