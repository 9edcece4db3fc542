import { parseSettings } from './document.ts';
import { formatPath, type SettingsPath } from './path.ts';
import { LARGEST_SETTINGS_BYTES, readTextFile } from './read-text.ts';
import type { Resolved } from './references.ts';
import { isSecretName, isSecretPath, secretsIn, secretsWithin } from './secret-names.ts';

/** Sections whose values everybody may see; to remove them from what people read would only blind them. */
const PUBLIC_SECTIONS: ReadonlySet<unknown> = new Set([
  ...['agent', 'http', 'log', 'lanes', 'limits', 'identity', 'skills'],
  ...['cron', 'heartbeat', 'soul', 'spend', 'inspector'],
]);
/** Blocks whose every value may be a secret, whatever its key is called. */
const SECRET_BLOCKS: ReadonlySet<unknown> = new Set(['headers', 'env']);
const HARMLESS_HEADER = /^(?:accept|content|user-agent|cache-control)/i;

/**
 * What must never leave the process (G18): every value whose key says so (`token`, `apiKey`,
 * `password`, …), every value of `headers` and `env`, whatever came from a secret file or the
 * environment and looks like a secret, and inside all other text the user parts, queries and secret
 * paths of URLs, and the values of flags such as `--api-key`. No order, no doubles.
 */
export function collectSecrets(resolved: Resolved): string[] {
  const secrets = new Set<string>();
  for (const { path, text, isFile } of resolved.pieces) {
    if (isSecretPath(path) || isFile) add(secretsIn(text));
    else if (!PUBLIC_SECTIONS.has(path[0]) && !path.includes('access') && looksSecret(text))
      add([text]);
  }
  // A reference that leads nowhere stays as it was written, and that is no secret.
  const unresolved = new Set(resolved.problems.map((problem) => formatPath(problem.path)));
  walk(resolved.value, []);
  return [...secrets];

  function walk(value: unknown, path: SettingsPath): void {
    if (Array.isArray(value)) add(valuesOfFlags(value));
    if (typeof value === 'object' && value !== null) {
      for (const [key, entry] of Object.entries(value)) walk(entry, [...path, key]);
    } else if (unresolved.has(formatPath(path))) {
      return;
    } else if (typeof value === 'string') {
      if (isSecretPath(path) || isSecretBlock(path, value)) add(secretsIn(value));
      add(innerSecrets(value));
    } else if (typeof value === 'number' && isSecretPath(path) && !isCount(path)) {
      add([String(value)]);
    }
  }

  function add(found: readonly string[]): void {
    for (const secret of found) if (secret !== '') secrets.add(secret);
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
    if (!isSecret && !isSecretBlock(path, value) && innerSecrets(value).length === 0) return;
    const line = document.locate(path, 'value')?.line;
    found.push(`${formatPath(path)}${line === undefined ? '' : ` (line ${line})`}`);
  };
  walk(document.value, []);
  return found;
}

/** Of a value that is no secret as a whole. */
function innerSecrets(value: string): readonly string[] {
  return secretsWithin(value).flatMap(({ text, isNamed }) =>
    text !== '' && (isNamed || looksSecret(text)) ? [text] : [],
  );
}

function isSecretBlock(path: SettingsPath, value: string): boolean {
  const name = String(path.at(-1));
  return SECRET_BLOCKS.has(path.at(-2)) && !HARMLESS_HEADER.test(name) && looksSecret(value);
}

/** `tokens: 200000` is an amount of text. */
function isCount(path: SettingsPath): boolean {
  return /tokens$/i.test(String(path.at(-1)));
}

/** `--api-key VALUE` and `--header NAME: VALUE` in the arguments of a program. */
function valuesOfFlags(list: readonly unknown[]): readonly string[] {
  return list.flatMap((flag, nth) => {
    const value: unknown = list[nth + 1];
    const isNamed = typeof flag === 'string' && /^--?[\w-]+$/.test(flag) && isSecretName(flag);
    return isNamed && typeof value === 'string' && !value.startsWith('-') ? secretsIn(value) : [];
  });
}

/**
 * Whether a value whose name says nothing is taken for a secret: 8 characters or more, and neither a
 * word, a number, a date, a path, an address nor a media type.
 */
function looksSecret(value: string): boolean {
  if (value.length < 8) return false;
  const plain = [
    /^[a-z]{1,11}$/i,
    // Also with a channel before it: a person.
    /^(?:[a-z-]+:)?\d{1,20}$/,
    /^\d{4}-\d\d-\d\d(?:T[\d:.]+Z?)?$/,
    /^(?:~|\.{0,2})\//,
    /^[a-z][a-z0-9+.-]*:\/\//i,
    /^(?:application|audio|font|image|multipart|text|video)\/[\w.+-]+/i,
  ];
  return !plain.some((look) => look.test(value));
}
