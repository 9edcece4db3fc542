import type { Block } from './block.ts';
import { formatPath, type SettingsPath, valueAt } from './path.ts';
import type { Position, SettingsProblem } from './problem.ts';
import { isSecretPath } from './secret-names.ts';

/** Everything that is needed to say where a value came from and what could stand there instead. */
export interface SettingsSource {
  /** The settings after references were replaced. */
  readonly value: Block;
  /** Paths of values that came from outside the file, and how the file wrote them. */
  readonly outside: ReadonlyMap<string, string>;
  readonly secrets: readonly string[];
  locate(path: SettingsPath, part: 'key' | 'value'): Position | undefined;
  /** The keys and fixed values that are valid at a path. */
  allowedAt(path: SettingsPath): Allowed;
}

/** What may stand at one place of the settings. */
export interface Allowed {
  readonly keys: readonly string[];
  readonly values: readonly string[];
}

/** What a check found, before it is placed in the file. */
export interface Finding {
  readonly kind: SettingsProblem['kind'];
  readonly path: SettingsPath;
  readonly expected: string;
  readonly nearest?: string | undefined;
}

/** Makes a problem out of a finding: adds its place and its value, and hides every secret. */
export function problemOf(finding: Finding, source: SettingsSource): SettingsProblem {
  const { kind, path, nearest } = finding;
  const position = source.locate(path, kind === 'unknown-key' ? 'key' : 'value');
  const found = kind === 'missing' || kind === 'unknown-key' ? undefined : shownValue(path, source);
  return {
    kind,
    path: formatPath(path),
    ...(position === undefined ? {} : { position }),
    ...(found === undefined ? {} : { found }),
    expected: hideSecrets(finding.expected, source.secrets),
    ...(nearest === undefined ? {} : { nearest }),
  };
}

function shownValue(path: SettingsPath, source: SettingsSource): string | undefined {
  const reference = source.outside.get(formatPath(path));
  if (reference !== undefined) {
    const shown = isSecretPath(path) ? referencesOnly(reference) : reference;
    return hideSecrets(shown, source.secrets);
  }
  const value = valueAt(source.value, path);
  if (value === undefined) return undefined;
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === 'object' && value !== null) {
    const keys = Object.keys(value);
    return keys.length === 0 ? 'an empty block' : `a block with ${shorten(keys.join(', '))}`;
  }
  if (isSecretPath(path)) return '(hidden)';
  return hideSecrets(shorten(JSON.stringify(value)), source.secrets);
}

/** What stands beside a reference in a secret is a part of the secret. */
function referencesOnly(text: string): string {
  return text.replaceAll(/(\$\{[^}]*\}?)|[^$]+|\$/g, (_all, reference) => reference ?? '…');
}

function shorten(text: string): string {
  return text.length <= 60 ? text : `${text.slice(0, 57)}…`;
}

function hideSecrets(text: string, secrets: readonly string[]): string {
  return secrets
    .filter((secret) => secret.length >= 4)
    .toSorted((a, b) => b.length - a.length)
    .reduce((shown, secret) => shown.replaceAll(secret, '(hidden)'), text);
}
