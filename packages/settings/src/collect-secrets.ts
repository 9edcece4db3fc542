import { parseSettings } from './document.ts';
import { formatPath, type SettingsPath } from './path.ts';
import { LARGEST_SETTINGS_BYTES, readTextFile } from './read-text.ts';
import type { Resolved } from './references.ts';
import { isSecretPath, secretsIn } from './secret-names.ts';

/** Sections whose values are shown everywhere anyway; to blot them out of logs would only blind people. */
const PUBLIC_SECTIONS: ReadonlySet<unknown> = new Set(['agent', 'http', 'log', 'lanes', 'limits']);

/**
 * What logs must never show: every value that came from the environment or a file, every value whose
 * key says so (`token`, `apiKey`, `password`, …), and the passwords within URLs. No order, no doubles.
 */
export function collectSecrets(resolved: Resolved): string[] {
  const secrets = new Set<string>();
  for (const { path, text } of resolved.pieces) {
    if (isSecretPath(path) || !PUBLIC_SECTIONS.has(path[0])) add(secretsIn(text));
  }
  // A reference that leads nowhere stays as it was written, and that is no secret.
  const unresolved = new Set(resolved.problems.map((problem) => formatPath(problem.path)));
  walk(resolved.value, []);
  return [...secrets];

  function walk(value: unknown, path: SettingsPath): void {
    if (typeof value === 'object' && value !== null) {
      for (const [key, entry] of Object.entries(value)) walk(entry, [...path, key]);
    } else if (unresolved.has(formatPath(path))) {
      return;
    } else if (typeof value === 'string') {
      const [, ...inside] = secretsIn(value);
      add(isSecretPath(path) ? secretsIn(value) : inside);
    } else if (typeof value === 'number' && isSecretPath(path)) add([String(value)]);
  }

  function add(found: readonly string[]): void {
    for (const secret of found) secrets.add(secret);
  }
}

/** Shorter values under such a key are words like `none`. */
const SHORTEST = 8;

/** Where a settings file holds secrets in clear, as `model.apiKey (line 7)`; never the secrets themselves. */
export function clearSecretsIn(file: string): readonly string[] {
  const read = readTextFile(file, LARGEST_SETTINGS_BYTES);
  const document = parseSettings(read.kind === 'text' ? read.text : '');
  if (document.kind === 'broken') return [];
  const found: string[] = [];
  const walk = (value: unknown, path: SettingsPath): void => {
    if (typeof value === 'object' && value !== null) {
      for (const [key, entry] of Object.entries(value)) walk(entry, [...path, key]);
    }
    if (typeof value !== 'string' || value.includes('${')) return;
    const isSecret = isSecretPath(path) && value.length >= SHORTEST;
    if (!isSecret && secretsIn(value).length === 1) return;
    const line = document.locate(path, 'value')?.line;
    found.push(`${formatPath(path)}${line === undefined ? '' : ` (line ${line})`}`);
  };
  walk(document.value, []);
  return found;
}
