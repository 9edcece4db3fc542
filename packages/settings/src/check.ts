import type { z } from 'zod';
import { expectation, oneOf } from './expectation.ts';
import { type LeafIssue, leafIssues } from './leaf-issues.ts';
import { nearest } from './nearest.ts';
import { formatPath, type SettingsPath, valueAt } from './path.ts';
import type { SettingsProblem } from './problem.ts';
import { problemOf, type SettingsSource } from './source.ts';

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
